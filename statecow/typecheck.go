package statecow

import "reflect"

// checkKey reports why keys of type t cannot be compared and hashed as bytes.
func checkKey(t reflect.Type) error {
	if err := checkValue(t); err != nil {
		return err
	}
	if why := notBytes(t); why != "" {
		return &TypeError{Type: t.String(), Reason: why}
	}
	return nil
}

// checkValue reports why values of type t cannot lie in the log.
func checkValue(t reflect.Type) error {
	if why := pointers(t, t.String()); why != "" {
		return &TypeError{Type: t.String(), Reason: why}
	}
	if t.Size() > maxKey {
		return &TypeError{Type: t.String(), Reason: "it is larger than 1 MiB"}
	}
	return nil
}

// pointers names the first part of t that holds a pointer, if any.
func pointers(t reflect.Type, path string) string {
	switch t.Kind() {
	case reflect.Array:
		return pointers(t.Elem(), path+"[...]")
	case reflect.Struct:
		for f := range t.Fields() {
			if why := pointers(f.Type, path+"."+f.Name); why != "" {
				return why
			}
		}
		return ""
	case reflect.Pointer, reflect.UnsafePointer, reflect.String, reflect.Slice, reflect.Map, reflect.Chan, reflect.Func, reflect.Interface:
		return path + " is a " + t.Kind().String() + ", which holds a pointer"
	}
	return ""
}

// notBytes says why equal values of t may differ in their bytes, if they may.
func notBytes(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		return "keys with floating-point numbers are equal with different bytes (0 and -0)"
	case reflect.Array:
		return notBytes(t.Elem())
	case reflect.Struct:
		end := uintptr(0)
		for f := range t.Fields() {
			if f.Offset != end || f.Name == "_" {
				return "there is padding before or at field " + f.Name + ", whose bytes are undefined"
			}
			if why := notBytes(f.Type); why != "" {
				return why
			}
			end = f.Offset + f.Type.Size()
		}
		if end != t.Size() {
			return "there is padding at its end, whose bytes are undefined"
		}
	}
	return ""
}
