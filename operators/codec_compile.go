package operators

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"
)

// compiler makes the program of a type.
type compiler struct {
	program program
	within  []reflect.Type // the types being compiled, from the outermost
}

// compile returns the program of t; path names t in errors.
func compile(t reflect.Type, path string, within []reflect.Type) (*program, error) {
	c := compiler{within: within}
	err := c.add(t, path, 0)
	return &c.program, err
}

// add compiles a value of type t that lies at an offset.
func (c *compiler) add(t reflect.Type, path string, offset uintptr) error {
	if slices.Contains(c.within, t) {
		return refuse(path, "contains its own type, %v", t)
	}
	c.within = append(c.within, t)
	defer func() { c.within = c.within[:len(c.within)-1] }()
	s := step{offset: offset, typ: t}
	switch {
	case t == reflect.TypeFor[time.Time]():
		s.kind = stepTime
		c.program.add(s, timeSize)
		return nil
	case t.Kind() == reflect.Struct:
		return c.addStruct(t, path, offset)
	case t.Kind() == reflect.Array:
		return c.addArray(s, path)
	case t.Kind() == reflect.Slice:
		return c.addSlice(s, path)
	case t.Kind() == reflect.Pointer:
		return c.addPointer(s, path)
	case t.Kind() == reflect.Map:
		return c.addMap(s, path)
	case t.Kind() == reflect.String:
		s.kind = stepString
		c.program.add(s, 1)
		return nil
	case t.Kind() == reflect.Bool:
		s.kind = stepBool
		c.program.add(s, 1)
		return nil
	case pointerFree(t):
		s.kind, s.size = stepCopy, t.Size()
		c.program.add(s, int(t.Size()))
		return nil
	}
	return refuse(path, "is a %v; give the operator a codec with WithCodec", t)
}

// addStruct compiles the fields. Fields that are not exported are part of the value
// if they hold no pointers; those that do may be anything, a lock or a cache.
func (c *compiler) addStruct(t reflect.Type, path string, offset uintptr) error {
	for i := range t.NumField() {
		f := t.Field(i)
		path := path + "." + f.Name
		promoted := f.Anonymous && f.Type.Kind() == reflect.Struct
		if !f.IsExported() && !promoted && !pointerFree(f.Type) {
			return refuse(path, "has pointers and is not exported; export it, or give the operator a codec with WithCodec")
		}
		if err := c.add(f.Type, path, offset+f.Offset); err != nil {
			return err
		}
	}
	return nil
}

func (c *compiler) addArray(s step, path string) (err error) {
	t := s.typ
	if s.elem, err = compile(t.Elem(), path+"[]", c.within); err != nil {
		return err
	}
	s.kind, s.size, s.count = stepArray, t.Elem().Size(), t.Len()
	if s.elem.copies(t.Elem()) {
		s.kind, s.size = stepCopy, t.Size()
	}
	if s.size > 0 {
		c.program.add(s, s.elem.min*t.Len())
	}
	return nil
}

func (c *compiler) addSlice(s step, path string) (err error) {
	elem := s.typ.Elem()
	if elem.Kind() == reflect.Uint8 {
		s.kind = stepBytes
		c.program.add(s, 1)
		return nil
	}
	if s.elem, err = compile(elem, path+"[]", c.within); err != nil {
		return err
	}
	s.kind, s.size = stepSlice, elem.Size()
	if s.elem.copies(elem) {
		s.kind = stepVector
	}
	c.program.add(s, 1)
	return refuseEmpty(s.elem.min, path)
}

func (c *compiler) addPointer(s step, path string) (err error) {
	s.kind = stepPointer
	if s.typ.Implements(reflect.TypeFor[proto.Message]()) {
		s.kind = stepMessage
		_, err = messageName(s.typ, path)
	} else {
		s.elem, err = compile(s.typ.Elem(), path, c.within)
	}
	s.typ = s.typ.Elem()
	c.program.add(s, 1)
	return err
}

func (c *compiler) addMap(s step, path string) (err error) {
	s.kind = stepMap
	if s.key, err = compile(s.typ.Key(), path+"[key]", c.within); err != nil {
		return err
	}
	if s.elem, err = compile(s.typ.Elem(), path+"[]", c.within); err != nil {
		return err
	}
	c.program.add(s, 1)
	return refuseEmpty(s.key.min, path)
}

// refuseEmpty refuses elements that have no bytes: a damaged count could claim any
// number of them.
func refuseEmpty(min int, path string) error {
	if min == 0 {
		return refuse(path, "has elements that take no space")
	}
	return nil
}

func refuse(path, format string, args ...any) error {
	return fmt.Errorf("%w: %s "+format, append([]any{ErrNoCodec, path}, args...)...)
}

// pointerFree reports whether values of t hold no pointers.
func pointerFree(t reflect.Type) bool {
	switch k := t.Kind(); k {
	case reflect.Array:
		return pointerFree(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if !pointerFree(t.Field(i).Type) {
				return false
			}
		}
		return true
	default:
		return k >= reflect.Bool && k <= reflect.Complex128 && k != reflect.Uintptr
	}
}
