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
	dst = binary.AppendUvarint(append(dst, partitionsOf), uint64(len(p)))
	for _, t := range p {
		dst = t.append(dst)
		dst = binary.AppendUvarint(dst, uint64(len(t.folder)))
		dst = append(dst, t.folder...)
	}
	return dst
}

func decodePrepared(b []byte) (p prepared, err error) {
	if len(b) == 0 {
		return nil, errPrepared
	}
	version, b := b[0], b[1:]
	n := uint64(1)
	switch version {
	case oneFile:
	case partitionsOf:
		if n, b, err = number(b); err != nil {
			return nil, err
		}
	default:
		return nil, errPrepared
	}
	for ; n > 0 && len(b) > 0; n-- {
		var t transaction
		if b, err = t.decode(b, version == partitionsOf); err != nil {
			return nil, err
		}
		p = append(p, t)
	}
	if n > 0 || len(b) > 0 || len(p) == 0 {
		return nil, errPrepared
	}
	return p, nil
}

// number reads a varint, and returns what is behind it.
func number(b []byte) (v uint64, rest []byte, err error) {
	v, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, nil, errPrepared
	}
	return v, b[n:], nil
}

// append is the description of a transaction, without its folder.
func (t transaction) append(dst []byte) []byte {
	for _, n := range []uint64{t.subtask, t.epoch, t.seq, uint64(t.length)} {
		dst = binary.AppendUvarint(dst, n)
	}
	return binary.LittleEndian.AppendUint32(dst, t.sum)
}

// decode reads what append wrote and, if there is one, the folder. It returns what is
// behind them.
func (t *transaction) decode(b []byte, partition bool) (rest []byte, err error) {
	var length, n uint64
	for _, to := range []*uint64{&t.subtask, &t.epoch, &t.seq, &length} {
		if *to, b, err = number(b); err != nil {
			return nil, err
		}
	}
	if t.length = int64(length); t.length <= 0 || len(b) < 4 {
		return nil, errPrepared
	}
	t.sum, b = binary.LittleEndian.Uint32(b), b[4:]
	if !partition {
		return b, nil
	}
	if n, b, err = number(b); err != nil || n > uint64(len(b)) {
		return nil, errPrepared
	}
	t.folder = string(b[:n])
	if checkFolder(t.folder) != nil {
		return nil, errPrepared
	}
	return b[n:], nil
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
