// Package files reads and writes files.
//
// Sources cut the files that match a pattern into splits, byte ranges of at most
// MaxSplit bytes, identically on every worker. A line belongs to the split in which
// it begins, so every line is read exactly once, whatever the splits. A line ends
// with \n, which is not part of it (a \r before it is); a last line needs none.
//
// Sinks write one file under a temporary name and give it its own name when the
// job's input has ended, so that a file that can be seen is whole.
package files
