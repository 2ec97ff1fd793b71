package files

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"

	"github.com/overtake-stream/overtake/operators"
)

// TSV is a sink that writes a line for each record, its fields separated by tabs.
// The fields are the exported ones of a struct, or the value itself. Tab, newline,
// carriage return and backslash inside a field are written as \t, \n, \r and \\.
func TSV[T any](path string) operators.Sink[T] {
	cols, err := columnsOf[T]()
	return rows[T]{path: path, err: err, row: func(dst []byte, v T) ([]byte, error) {
		value := reflect.ValueOf(&v).Elem()
		for i, c := range cols {
			if i > 0 {
				dst = append(dst, '\t')
			}
			start := len(dst)
			dst = escapeTSV(c.append(dst, value), start)
		}
		return append(dst, '\n'), nil
	}}
}

// escapeTSV escapes dst[start:].
func escapeTSV(dst []byte, start int) []byte {
	if !bytes.ContainsAny(dst[start:], "\t\n\r\\") {
		return dst
	}
	field := bytes.Clone(dst[start:])
	dst = dst[:start]
	for _, c := range field {
		if i := bytes.IndexByte([]byte("\t\n\r\\"), c); i >= 0 {
			dst = append(dst, '\\', `tnr\`[i])
		} else {
			dst = append(dst, c)
		}
	}
	return dst
}

// CSV is a sink that writes a line of comma-separated values for each record, by
// the rules of RFC 4180, after a first line with the names of the fields.
func CSV[T any](path string) operators.Sink[T] {
	cols, err := columnsOf[T]()
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	fields := make([]string, len(cols))
	line := func() ([]byte, error) {
		b.Reset()
		err := w.Write(fields)
		w.Flush()
		return b.Bytes(), errors.Join(err, w.Error())
	}
	for i, c := range cols {
		fields[i] = c.name
	}
	head, headErr := line()
	return rows[T]{path: path, head: bytes.Clone(head), err: errors.Join(err, headErr), row: func(dst []byte, v T) ([]byte, error) {
		value := reflect.ValueOf(&v).Elem()
		for i, c := range cols {
			fields[i] = string(c.append(nil, value))
		}
		b, err := line()
		return append(dst, b...), err
	}}
}

// JSONLines is a sink that writes each record as JSON on a line of its own.
func JSONLines[T any](path string) operators.Sink[T] {
	return rows[T]{path: path, row: func(dst []byte, v T) ([]byte, error) {
		b, err := json.Marshal(v)
		return append(append(dst, b...), '\n'), err
	}}
}

// column is one field of a row.
type column struct {
	name  string
	index []int // of the field; none: the value itself
	kind  reflect.Kind
}

var errColumn = errors.New("files: a column must be a string, a number, a bool or bytes")

func columnsOf[T any]() ([]column, error) {
	t := reflect.TypeFor[T]()
	if t.Kind() != reflect.Struct {
		c := column{name: "value", kind: t.Kind()}
		return []column{c}, c.check(t)
	}
	var cols []column
	for _, f := range reflect.VisibleFields(t) {
		if !f.IsExported() || f.Anonymous {
			continue
		}
		c := column{name: f.Name, index: f.Index, kind: f.Type.Kind()}
		if err := c.check(f.Type); err != nil {
			return nil, err
		}
		cols = append(cols, c)
	}
	return cols, nil
}

func (c column) check(t reflect.Type) error {
	switch {
	case c.kind >= reflect.Bool && c.kind <= reflect.Float64 && c.kind != reflect.Uintptr, c.kind == reflect.String:
		return nil
	case c.kind == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return nil
	}
	return fmt.Errorf("%w: %s is a %v", errColumn, c.name, t)
}

func (c column) append(dst []byte, v reflect.Value) []byte {
	if c.index != nil {
		v = v.FieldByIndex(c.index)
	}
	switch {
	case c.kind == reflect.String:
		return append(dst, v.String()...)
	case c.kind == reflect.Slice:
		return append(dst, v.Bytes()...)
	case c.kind == reflect.Bool:
		return strconv.AppendBool(dst, v.Bool())
	case v.CanInt():
		return strconv.AppendInt(dst, v.Int(), 10)
	case v.CanUint():
		return strconv.AppendUint(dst, v.Uint(), 10)
	default:
		return strconv.AppendFloat(dst, v.Float(), 'g', -1, 64)
	}
}
