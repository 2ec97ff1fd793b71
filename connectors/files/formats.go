package files

import (
	"bytes"
	"encoding/json"
	"unicode"
	"unicode/utf8"

	"github.com/overtake-stream/overtake/operators"
)

// Rows is a sink that writes a line for each record, which row appends to dst without
// its \n. It calls row from one goroutine, and the record is lent.
func Rows[T any](path string, row func(dst []byte, v T) []byte) operators.Sink[T] {
	return rows[T]{path: path, format: func() (format[T], error) {
		return format[T]{row: func(dst []byte, v T) ([]byte, error) { return append(row(dst, v), '\n'), nil }}, nil
	}}
}

// TSV is a sink that writes a line for each record, its columns separated by tabs, and
// no line with names. The columns are the exported fields of a struct, with those of
// structs in it, or the value itself. Tab, newline, carriage return and backslash
// inside a column are written as \t, \n, \r and \\.
func TSV[T any](path string) operators.Sink[T] {
	return rows[T]{path: path, ext: ".tsv", format: func() (format[T], error) {
		cells, err := newCells[T]()
		var scratch []byte
		row := func(dst []byte, v T) (_ []byte, err error) {
			err = cells.each(v, func(i int, c *cell) (err error) {
				if i > 0 {
					dst = append(dst, '\t')
				}
				start := len(dst)
				if dst, err = c.append(dst); err == nil && c.text && bytes.ContainsAny(dst[start:], "\t\n\r\\") {
					scratch = append(scratch[:0], dst[start:]...)
					dst = appendEscaped(dst[:start], scratch)
				}
				return err
			})
			return append(dst, '\n'), err
		}
		return format[T]{row: row}, err
	}}
}

func appendEscaped(dst, field []byte) []byte {
	for _, c := range field {
		switch c {
		case '\t':
			dst = append(dst, `\t`...)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\\':
			dst = append(dst, `\\`...)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// CSV is a sink that writes a line of comma-separated values for each record, by the
// rules of RFC 4180 as package encoding/csv has them, after a first line with the names
// of the columns. The columns are those of TSV.
func CSV[T any](path string) operators.Sink[T] {
	return rows[T]{path: path, ext: ".csv", format: func() (format[T], error) {
		cells, err := newCells[T]()
		var head, scratch []byte
		for i, c := range cells.list {
			if i > 0 {
				head = append(head, ',')
			}
			head = append(head, c.name...) // a Go name needs no quotes
		}
		row := func(dst []byte, v T) (_ []byte, err error) {
			err = cells.each(v, func(i int, c *cell) (err error) {
				if i > 0 {
					dst = append(dst, ',')
				}
				start := len(dst)
				dst, err = c.append(dst)
				if field := dst[start:]; err == nil && c.text && needsQuotes(field, len(cells.list) == 1) {
					scratch = append(scratch[:0], field...)
					dst = appendQuoted(dst[:start], scratch)
				}
				return err
			})
			return append(dst, '\n'), err
		}
		return format[T]{head: append(head, '\n'), row: row}, err
	}}
}

// needsQuotes has the rules of encoding/csv. Besides, an empty field that is alone needs
// them: readers take an empty line for none.
func needsQuotes(field []byte, alone bool) bool {
	if len(field) == 0 {
		return alone
	}
	first, _ := utf8.DecodeRune(field)
	return string(field) == `\.` || unicode.IsSpace(first) || bytes.ContainsAny(field, ",\"\r\n")
}

func appendQuoted(dst, field []byte) []byte {
	dst = append(dst, '"')
	for _, c := range field {
		if c == '"' {
			dst = append(dst, '"')
		}
		dst = append(dst, c)
	}
	return append(dst, '"')
}

// JSONLines is a sink that writes each record as JSON on a line of its own, as package
// encoding/json does, but with <, > and & as they are.
func JSONLines[T any](path string) operators.Sink[T] {
	return rows[T]{path: path, ext: ".jsonl", format: func() (format[T], error) {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		return format[T]{row: func(dst []byte, v T) ([]byte, error) {
			b.Reset()
			err := enc.Encode(v) // with its \n
			return append(dst, b.Bytes()...), err
		}}, nil
	}}
}
