//go:build !linux

package probe

const offset = 0
