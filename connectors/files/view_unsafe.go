package files

import "unsafe"

// view returns b's bytes as a string without copying: valid as long as b is.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
