// Package files reads and writes files.
//
// Sources cut the files that match a pattern into splits, byte ranges of at most
// MaxSplit bytes, identically on every worker. A line belongs to the split in which
// it begins, so every line is read exactly once, whatever the splits. A line ends
// with \n, which is not part of it (a \r before it is); a last line needs none. What
// is read is fixed when the job begins: files that come or grow later are not, and
// a file must not shrink. With several workers, files must not change at all while
// the job begins. The position of a split is its file, its range, and the offset of
// the next line.
//
// Sinks write one file, or with Parts one for each subtask, under a temporary name and
// give it its own name when the job's input has ended, so that a file that can be seen
// is whole.
//
// There are no goroutines. Lines and blocks are lent: they are views into the reader's
// one buffer, of 256 KiB, or twice the longest line if that is more.
package files
