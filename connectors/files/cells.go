package files

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strconv"
)

// cells append the columns of one T after the other. They read them from a place of
// their own, so that nothing is allocated for a record.
type cells[T any] struct {
	place *T
	list  []cell
}

// cell is one column.
type cell struct {
	name   string
	text   bool // may need to be escaped or quoted
	append func(dst []byte) ([]byte, error)
}

// errColumn says which types can be columns.
var errColumn = errors.New("files: a column must be a string, a number, a bool, bytes, or text by encoding.TextMarshaler")

// newCells returns the columns of T: the exported fields of a struct, those of structs
// in it by their own names (Key.ID); or the value itself.
func newCells[T any]() (*cells[T], error) {
	c := &cells[T]{place: new(T)}
	err := c.add("", reflect.ValueOf(c.place).Elem())
	if err == nil && len(c.list) == 0 {
		err = fmt.Errorf("%w: %T has none", errColumn, *c.place)
	}
	return c, err
}

// add appends the columns of a value.
func (c *cells[T]) add(name string, v reflect.Value) error {
	if name == "" && (v.Kind() != reflect.Struct || isText(v)) {
		name = "value"
	}
	switch {
	case isText(v):
		c.list = append(c.list, cell{name, true, appendText(v)})
		return nil
	case v.Kind() == reflect.Struct:
		return c.addFields(name, v)
	}
	cell := cell{name: name, append: appender(v)}
	cell.text = v.Kind() == reflect.String || v.Kind() == reflect.Slice
	if cell.append == nil {
		return fmt.Errorf("%w: %s is a %v", errColumn, name, v.Type())
	}
	c.list = append(c.list, cell)
	return nil
}

func (c *cells[T]) addFields(name string, v reflect.Value) error {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.Anonymous && f.Type.Kind() == reflect.Struct && !isText(v.Field(i)) {
			if err := c.addFields(name, v.Field(i)); err != nil {
				return err
			}
			continue
		}
		if !f.IsExported() {
			continue
		}
		full := f.Name
		if name != "" {
			full = name + "." + f.Name
		}
		if err := c.add(full, v.Field(i)); err != nil {
			return err
		}
	}
	return nil
}

// each puts v in place, calls f for every cell, and forgets v, which may be a view.
func (c *cells[T]) each(v T, f func(i int, c *cell) error) (err error) {
	var zero T
	*c.place = v
	for i := range c.list {
		if err = f(i, &c.list[i]); err != nil {
			err = fmt.Errorf("column %s: %w", c.list[i].name, err)
			break
		}
	}
	*c.place = zero
	return err
}

func isText(v reflect.Value) bool {
	if !v.CanInterface() {
		return false
	}
	_, ok := v.Addr().Interface().(encoding.TextMarshaler)
	return ok
}

func appendText(v reflect.Value) func(dst []byte) ([]byte, error) {
	if a, ok := v.Addr().Interface().(encoding.TextAppender); ok {
		return a.AppendText
	}
	m := v.Addr().Interface().(encoding.TextMarshaler)
	return func(dst []byte) ([]byte, error) {
		b, err := m.MarshalText()
		return append(dst, b...), err
	}
}

// appender returns how to append a value of a basic kind; nil for others.
func appender(v reflect.Value) func(dst []byte) ([]byte, error) {
	switch k := v.Kind(); {
	case k == reflect.String:
		return func(dst []byte) ([]byte, error) { return append(dst, v.String()...), nil }
	case k == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		return func(dst []byte) ([]byte, error) { return append(dst, v.Bytes()...), nil }
	case k == reflect.Bool:
		return func(dst []byte) ([]byte, error) { return strconv.AppendBool(dst, v.Bool()), nil }
	case v.CanInt():
		return func(dst []byte) ([]byte, error) { return strconv.AppendInt(dst, v.Int(), 10), nil }
	case v.CanUint():
		return func(dst []byte) ([]byte, error) { return strconv.AppendUint(dst, v.Uint(), 10), nil }
	case v.CanFloat():
		bits := v.Type().Bits()
		return func(dst []byte) ([]byte, error) { return strconv.AppendFloat(dst, v.Float(), 'g', -1, bits), nil }
	}
	return nil
}
