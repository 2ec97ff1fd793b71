package checkpoint

import (
	"fmt"
)

// Validate returns an *InvalidError with all that is wrong with the manifest, nil if
// Publish would take it.
func (m *Manifest) Validate() error {
	v := &validator{}
	v.manifest(m)
	if len(v.problems) == 0 {
		return nil
	}
	return &InvalidError{Checkpoint: m.ID, Problems: v.problems}
}

// validator collects problems, up to a number that people read.
type validator struct{ problems []error }

func (v *validator) check(ok bool, format string, args ...any) {
	if !ok && len(v.problems) < 20 {
		v.problems = append(v.problems, fmt.Errorf(format, args...))
	}
}

func (v *validator) name(what, s string) {
	v.check(len(s) <= MaxName, "%s has %d bytes, more than %d", what, len(s), MaxName)
}

func (v *validator) manifest(m *Manifest) {
	v.check(m.Version == 0 || m.Version == ManifestVersion, "version %d: leave it 0, or %d", m.Version, ManifestVersion)
	v.check(m.ID >= 1, "ID is 0: number checkpoints from 1")
	v.check(m.Kind <= Savepoint, "kind %d is unknown", m.Kind)
	v.check(m.MaxParallelism >= 0 && m.MaxParallelism <= MaxParallelism, "max parallelism %d is not in 0..%d", m.MaxParallelism, MaxParallelism)
	v.check(m.Stats.FullBytes >= 0 && m.Stats.NewBytes >= 0, "bytes in the statistics are negative")
	v.check(m.Stats.Duration >= 0 && m.Stats.SyncPause >= 0 && m.Stats.Align >= 0, "durations in the statistics are negative")
	v.name("job", m.Job)
	v.name("mode", m.Mode)
	uids := make(map[string]bool, len(m.Operators))
	for i := range m.Operators {
		o := &m.Operators[i]
		v.check(!uids[o.UID], "two operators have the UID %.100q", o.UID)
		uids[o.UID] = true
		v.operator(m, o)
	}
	v.blobs(m)
}

func (v *validator) operator(m *Manifest, o *Operator) {
	v.name("operator UID", o.UID)
	v.name("operator name", o.Name)
	v.check(o.Parallelism >= 0 && o.Parallelism <= MaxParallelism, "operator %.100q: parallelism %d is not in 0..%d", o.UID, o.Parallelism, MaxParallelism)
	seen := make(map[int]bool, len(o.Subtasks))
	for i := range o.Subtasks {
		s := &o.Subtasks[i]
		v.check(s.Index >= 0 && s.Index < o.Parallelism, "operator %.100q: subtask %d of %d", o.UID, s.Index, o.Parallelism)
		v.check(!seen[s.Index], "operator %.100q: subtask %d is there twice", o.UID, s.Index)
		seen[s.Index] = true
		for j := range s.Parts {
			if p := &s.Parts[j]; !p.valid(m) { // there are many, so names are made for bad ones only
				v.part(m, p, fmt.Sprintf("operator %.100q, subtask %d, part %d", o.UID, s.Index, j))
			}
		}
	}
}

// valid says whether part has nothing to find.
func (p *Part) valid(m *Manifest) bool {
	for i := range p.Chain {
		if !p.Chain[i].valid() {
			return false
		}
	}
	return p.Kind >= Splits && p.Kind <= Channels && len(p.State) <= MaxName && p.groupsValid(m) &&
		len(p.Inline) <= MaxInline && len(p.Chain) <= MaxChain
}

func (p *Part) groupsValid(m *Manifest) bool {
	return p.FirstGroup >= 0 && p.FirstGroup <= p.EndGroup && p.EndGroup <= m.MaxParallelism
}

func (r *BlobRef) valid() bool {
	return r.Size >= 0 && r.Size <= MaxBlob && r.Stored > 0 && r.Stored <= 2*MaxBlob
}

func (v *validator) part(m *Manifest, p *Part, where string) {
	v.check(p.Kind >= Splits && p.Kind <= Channels, "%s: kind %d is unknown", where, p.Kind)
	v.check(len(p.State) <= MaxName, "%s: the state's name has %d bytes, more than %d", where, len(p.State), MaxName)
	v.check(p.groupsValid(m), "%s: key groups %d..%d are not within 0..%d", where, p.FirstGroup, p.EndGroup, m.MaxParallelism)
	v.check(len(p.Inline) <= MaxInline, "%s: %d bytes inline, more than %d: write a blob", where, len(p.Inline), MaxInline)
	v.check(len(p.Chain) <= MaxChain, "%s: a chain of %d blobs, more than %d: write a full copy", where, len(p.Chain), MaxChain)
	for _, ref := range p.Chain {
		v.check(ref.valid(), "%s: blob %v has impossible sizes %d, %d", where, ref.Name, ref.Size, ref.Stored)
	}
}

// blobs checks that a shared blob is the same wherever it is referred to.
func (v *validator) blobs(m *Manifest) {
	refs := map[BlobName]BlobRef{}
	m.Blobs(func(ref BlobRef) {
		if first, ok := refs[ref.Name]; ok && first != ref {
			v.check(false, "blob %v is referred to as two different ones", ref.Name)
		}
		refs[ref.Name] = ref
	})
}
