package nexmark

import "unsafe"

// view is the string that shares b.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
