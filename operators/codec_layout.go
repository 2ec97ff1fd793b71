package operators

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/zeebo/xxh3"
	"google.golang.org/protobuf/proto"
)

// typeCodec is what the codecs that CodecFor chooses have in common.
type typeCodec struct{ name, layout string }

// Fingerprint implements Codec.
func (c *typeCodec) Fingerprint() uint64 { return xxh3.HashString(c.layout) }

// Layout describes the encoding in words that a message can show: two types with the
// same layout have the same fingerprint and understand each other's bytes.
func (c *typeCodec) Layout() string { return c.layout }

func (c *typeCodec) damaged(src, rest []byte, bad string) error {
	return &DecodeError{Type: c.name, Size: len(src), Offset: len(src) - len(rest), Reason: bad}
}

// layout describes a type's encoding: the kinds and names of all fields, but not the
// names of types, so that a type may be renamed.
func layout(t reflect.Type) string {
	switch k := t.Kind(); {
	case t == reflect.TypeFor[time.Time]():
		return "time"
	case k == reflect.Pointer && t.Implements(reflect.TypeFor[proto.Message]()):
		name, _ := messageName(t, "")
		return "*proto " + name
	case k == reflect.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), layout(t.Elem()))
	case k == reflect.Slice:
		return "[]" + layout(t.Elem())
	case k == reflect.Pointer:
		return "*" + layout(t.Elem())
	case k == reflect.Map:
		return "map[" + layout(t.Key()) + "]" + layout(t.Elem())
	case k == reflect.Struct:
		fields := make([]string, t.NumField())
		for i := range fields {
			fields[i] = t.Field(i).Name + " " + layout(t.Field(i).Type)
		}
		return "{" + strings.Join(fields, "; ") + "}"
	case k == reflect.Int || k == reflect.Uint:
		return fmt.Sprintf("%v%d", k, 8*t.Size()) // as wide as this machine has it
	default:
		return k.String()
	}
}
