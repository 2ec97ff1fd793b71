package main

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/overtake-stream/overtake/checkpoint"
)

type diffCmd struct {
	Dir string `arg:"" help:"Folder of a job's checkpoints."`
	A   string `arg:"" help:"One."`
	B   string `arg:"" help:"Another one."`
}

// difference is what two checkpoints have of an operator, in bytes of blobs and in
// bytes that are in the manifests.
type difference struct{ shared, onlyA, onlyB, inlineA, inlineB int64 }

// Run prints what they share.
func (c *diffCmd) Run() error {
	v, err := openView(c.Dir)
	if err != nil {
		return err
	}
	a, err := v.manifest(c.A)
	if err != nil {
		return err
	}
	b, err := v.manifest(c.B)
	if err != nil {
		return err
	}
	all := differences(a, b)
	return table(func(w io.Writer) {
		fmt.Fprintf(w, "OPERATOR\tSHARED\tONLY %d\tONLY %d\tIN MANIFEST %d\tIN MANIFEST %d\n", a.ID, b.ID, a.ID, b.ID)
		for _, uid := range slices.Sorted(maps.Keys(all)) {
			d := all[uid]
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", uid, size(d.shared), size(d.onlyA), size(d.onlyB), size(d.inlineA), size(d.inlineB))
		}
	})
}

// differences compares by UID.
func differences(a, b *checkpoint.Manifest) map[string]*difference {
	all := map[string]*difference{}
	ofA, ofB := operatorBlobs(a, all), operatorBlobs(b, all)
	for uid, d := range all {
		for name, ref := range ofA.blobs[uid] {
			if _, both := ofB.blobs[uid][name]; both {
				d.shared += ref.Stored
			} else {
				d.onlyA += ref.Stored
			}
		}
		for name, ref := range ofB.blobs[uid] {
			if _, both := ofA.blobs[uid][name]; !both {
				d.onlyB += ref.Stored
			}
		}
		d.inlineA, d.inlineB = ofA.inline[uid], ofB.inline[uid]
	}
	return all
}

// byOperator is what a checkpoint has, by UID.
type byOperator struct {
	blobs  map[string]map[checkpoint.BlobName]checkpoint.BlobRef
	inline map[string]int64
}

func operatorBlobs(m *checkpoint.Manifest, all map[string]*difference) byOperator {
	o := byOperator{map[string]map[checkpoint.BlobName]checkpoint.BlobRef{}, map[string]int64{}}
	for _, op := range m.Operators {
		all[op.UID] = &difference{}
		o.blobs[op.UID] = map[checkpoint.BlobName]checkpoint.BlobRef{}
		for _, s := range op.Subtasks {
			for _, p := range s.Parts {
				o.inline[op.UID] += int64(len(p.Inline))
				for _, ref := range p.Chain {
					o.blobs[op.UID][ref.Name] = ref
				}
			}
		}
	}
	return o
}
