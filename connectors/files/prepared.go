package files

import (
	"cmp"
	"encoding/binary"
	"errors"
	"path"
	"path/filepath"
	"slices"
)

// prepared is what one subtask has prepared for a checkpoint: the files that it wrote
// since the one before.
type prepared []transaction

// The versions of its description in a checkpoint.
const (
	oneFile      = 1 // a transaction in the output's folder
	partitionsOf = 2 // any number of them, each with its folder
)

var errPrepared = errors.New("files: damaged description of a prepared file")

// append is the description in a checkpoint: nothing if there are no files.
func (p prepared) append(dst []byte) []byte {
	switch {
	case len(p) == 0:
		return dst
	case len(p) == 1 && p[0].folder == "":
		return p[0].append(append(dst, oneFile))
	}
	dst = append(dst, partitionsOf)
	for _, t := range p {
		dst = t.append(dst)
		dst = binary.AppendUvarint(dst, uint64(len(t.folder)))
		dst = append(dst, t.folder...)
	}
	return dst
}

func decodePrepared(b []byte) (p prepared, err error) {
	if len(b) < 2 || b[0] != oneFile && b[0] != partitionsOf {
		return nil, errPrepared
	}
	partitions := b[0] == partitionsOf
	for b = b[1:]; len(b) > 0; {
		var t transaction
		if b, err = t.decode(b); err != nil {
			return nil, err
		}
		if partitions {
			n, used := binary.Uvarint(b)
			if used <= 0 || n > uint64(len(b)-used) {
				return nil, errPrepared
			}
			t.folder, b = string(b[used:used+int(n)]), b[used+int(n):]
			if checkFolder(t.folder) != nil {
				return nil, errPrepared
			}
		} else if len(b) > 0 {
			return nil, errPrepared
		}
		p = append(p, t)
	}
	return p, nil
}

// append is the description of a transaction, without its folder.
func (t transaction) append(dst []byte) []byte {
	for _, n := range []uint64{t.subtask, t.epoch, t.seq, uint64(t.length)} {
		dst = binary.AppendUvarint(dst, n)
	}
	return binary.LittleEndian.AppendUint32(dst, t.sum)
}

// decode reads what append wrote, and returns what is behind it.
func (t *transaction) decode(b []byte) (rest []byte, err error) {
	var length uint64
	for _, to := range []*uint64{&t.subtask, &t.epoch, &t.seq, &length} {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, errPrepared
		}
		*to, b = v, b[n:]
	}
	if t.length = int64(length); t.length <= 0 || len(b) < 4 {
		return nil, errPrepared
	}
	t.sum = binary.LittleEndian.Uint32(b)
	return b[4:], nil
}

// commit gives all files their parts' names, durably. What this attempt has written itself
// is compared by its length; all compares the checksums as well.
func (p prepared) commit(dir, ext string, all, replace bool) error {
	for _, t := range p {
		if err := t.commit(dir, ext, all, replace); err != nil {
			return err
		}
	}
	// Also those of parts that are there already: whoever moved them may not have come to
	// that. The output's folder, which has lost the pending names, comes last.
	for _, folder := range p.folders() {
		if err := syncFolder(filepath.Join(dir, filepath.FromSlash(folder))); err != nil {
			return err
		}
	}
	return nil
}

// folders are those of the files and all above them, up to the output's, each once and
// behind those in it.
func (p prepared) folders() []string {
	list := []string{"."}
	for _, t := range p {
		for f := path.Clean(t.folder); f != "."; f = path.Dir(f) {
			list = append(list, f)
		}
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	list = slices.Compact(list)
	at := slices.Index(list, ".")
	return append(slices.Delete(list, at, at+1), ".")
}

// abort removes all files.
func (p prepared) abort(dir, ext string) error {
	for _, t := range p {
		if err := t.abort(dir, ext); err != nil {
			return err
		}
	}
	return nil
}
