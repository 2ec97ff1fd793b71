package files

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"
)

// Partitions says how Partitioned divides its output.
type Partitions[T any] struct {
	// Folder appends to dst the folder of a record, below the output's:
	// "dt=2026-11-30/hour=09", with / between folders on every system; see ByTime and
	// AppendColumn. at is the record's event time in UTC, the zero Time if it has none. It is
	// called by all subtasks at once, and the record is lent. It must return the same for
	// the same record, or the output depends on when a job was restarted. A name that is
	// not allowed is an ErrFolder and fails the job. Required.
	Folder func(dst []byte, v T, at time.Time) []byte
	// MaxOpen is how many files a subtask may have open at once; default 64. Each has a
	// buffer of 64 KiB. Where records go to more partitions, the file that has had none
	// for the longest is ended and synced, and its partition's next record begins another: so
	// few files that are long want records in the order of their partitions, or a key.
	MaxOpen int
}

const (
	defaultOpen     = 64
	partitionBuffer = 64 << 10 // bytes of an open file's buffer
	maxFolder       = 1024     // bytes of a partition's name
	maxElement      = 255      // bytes of each folder in it: what file systems have
)

// Validate reports all problems at once.
func (p Partitions[T]) Validate() error {
	var errs []error
	if p.Folder == nil {
		errs = append(errs, errors.New("files: Folder is missing: it says which folder a record goes to"))
	}
	if p.MaxOpen < 0 {
		errs = append(errs, fmt.Errorf("files: MaxOpen is %d: set at least 1, or 0 for %d", p.MaxOpen, defaultOpen))
	}
	return errors.Join(errs...)
}

// ByTime is a Partitions.Folder by event time, in UTC, with a layout of package time:
// ByTime[Order]("dt=2006-01-02/hour=15"). A record without event time is an ErrFolder.
func ByTime[T any](layout string) func(dst []byte, v T, at time.Time) []byte {
	return func(dst []byte, _ T, at time.Time) []byte {
		if at.IsZero() {
			return dst
		}
		return at.AppendFormat(dst, layout)
	}
}

// AppendColumn appends name=value to the name of a partition, after a / if it has
// something already, as Hive and those who read its folders have it: bytes that mean
// something in paths are %XX, and an empty value is __HIVE_DEFAULT_PARTITION__. So it is
// safe with any value, of up to 255 bytes with its name.
func AppendColumn[S ~string | ~[]byte](dst []byte, name string, value S) []byte {
	if len(dst) > 0 {
		dst = append(dst, '/')
	}
	dst = append(appendPercent(dst, name), '=')
	if len(value) == 0 {
		return append(dst, "__HIVE_DEFAULT_PARTITION__"...)
	}
	return appendPercent(dst, value)
}

func appendPercent[S ~string | ~[]byte](dst []byte, s S) []byte {
	const hex = "0123456789ABCDEF"
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', 'A' <= c && c <= 'Z', c == '-':
			dst = append(dst, c)
		case c < ' ' || c >= 0x7f || strings.IndexByte(`"#%'*/:<=>?\[]^{|}`, c) >= 0:
			dst = append(dst, '%', hex[c>>4], hex[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// ErrFolder says that a partition's name is not one of a folder below the output's.
var ErrFolder = errors.New("it is no folder for a partition")

// checkFolder refuses names that lead elsewhere, or that not every system and reader
// takes for what they are.
func checkFolder(name string) error {
	why := ""
	switch {
	case name == "":
		why = "it is empty: has the record an event time?"
	case len(name) > maxFolder:
		name, why = name[:80]+"…", fmt.Sprintf("it has %d bytes, more than %d", len(name), maxFolder)
	case name[0] == '/':
		why = "it is an absolute path"
	case !utf8.ValidString(name):
		why = "it is not UTF-8"
	}
	for element := range strings.SplitSeq(name, "/") {
		if why != "" {
			break
		}
		why = checkElement(element)
	}
	if why == "" && !filepath.IsLocal(filepath.FromSlash(name)) {
		why = "this system has another meaning for it"
	}
	if why == "" {
		return nil
	}
	return fmt.Errorf("%q: %w: %s", name, ErrFolder, why)
}

// checkElement says what is wrong with one of the folders.
func checkElement(s string) string {
	switch {
	case s == "":
		return "it has a / too many"
	case s[0] == '.': // also . and .., and what the sink itself keeps in the folder
		return fmt.Sprintf("%q begins with a dot", s)
	case len(s) > maxElement:
		return fmt.Sprintf("one of its folders has %d bytes, more than %d", len(s), maxElement)
	case strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' }):
		return fmt.Sprintf("%q has a control character or a backslash", s)
	}
	return ""
}
