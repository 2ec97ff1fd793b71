//go:build !linux || !(amd64 || arm64)

package probe

// gate is never open: there is nobody to open it.
var gate [3]uint64

// WriteBegin does nothing here.
func WriteBegin(*Message) {}

// Processed does nothing here.
func Processed(*Message) {}
