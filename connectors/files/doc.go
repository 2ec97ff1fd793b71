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
// Sinks write one file, or with Parts one for each subtask, under a pending name,
// .NAME.pending beside it, and give it its own name when the job's input has ended, so
// that a file that can be seen is whole. The pending file is locked: a second writer of
// the same file is refused. (Only on Linux, and where the file system has locks. They end
// with the process.)
//
// In a job with checkpoints a position of such a sink is the durable length of the file
// and a checksum of the 64 KiB before it. An attempt that fails leaves its pending file,
// and the next one cuts it to the position and goes on. If there is none, or it is too
// short, an attempt before may have published the file already, between the checkpoint
// and the end of the job: then the file has at least the position's length, with the
// same bytes before it. If that is all of it there is nothing left to do; else a new
// pending file is made of its beginning, and replaces it in the end. If neither file
// fits, that is an error. A job that is given up leaves its pending file, to be removed
// by whoever gave it up.
//
// Transactional writes a file for each subtask and checkpoint, .pending-EPOCH-SUBTASK-SEQ,
// closed and synced when the checkpoint is prepared, and named
// part-SUBTASK-EPOCH-SEQ.EXT when it is complete. A checkpoint has the numbers, the length
// and the CRC-32C of a prepared file, which are compared before an attempt publishes what
// another one wrote. Partitioned has any number of such files, each with the folder that it
// is moved to; all of them are pending in the output's own folder, so that one look finds
// what an attempt has left. A live subtask has .lock-SUBTASK locked, and its successors look
// after what it leaves: after a recovery they remove what no checkpoint has.
//
// There are no goroutines. Lines and blocks are lent: they are views into the reader's
// one buffer, of 256 KiB, or twice the longest line if that is more.
package files
