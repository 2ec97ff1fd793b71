package nexmark

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/bench/pressure"
	"github.com/overtake-stream/overtake/connectors/files"
)

const minute = 60 * 1000 // milliseconds

const hourMinute = "15:04"

// logFolder appends the folder of bids of a minute, as AppendColumn would:
// dt=2015-07-15/hm=00%3A00.
func logFolder(dst []byte, ms int64) []byte {
	at := time.UnixMilli(ms).UTC()
	year, month, day := at.Date()
	dst = strconv.AppendInt(append(dst, "dt="...), int64(year), 10)
	dst = appendTwo(append(dst, '-'), int(month))
	dst = appendTwo(append(dst, '-'), day)
	dst = appendTwo(append(dst, "/hm="...), at.Hour())
	return appendTwo(append(dst, "%3A"...), at.Minute())
}

// appendTwo appends a number of two digits.
func appendTwo(dst []byte, n int) []byte { return append(dst, byte('0'+n/10), byte('0'+n%10)) }

// appendLogged appends the line of a bid: comma-separated, and no text of a bid needs
// quotes.
func appendLogged(dst []byte, b *Bid) []byte {
	for _, v := range [...]uint64{b.Auction, b.Bidder, b.Price, uint64(b.Time)} {
		dst = append(strconv.AppendUint(dst, v, 10), ',')
	}
	return append(dst, b.Extra...)
}

func foldLogged(t *Tally, b *Bid, date, minute string) {
	t.number(b.Auction)
	t.number(b.Bidder)
	t.number(b.Price)
	t.number(uint64(b.Time))
	t.string(b.Extra)
	t.string(date)
	t.string(minute)
}

func logged() Query {
	return Query{
		Name: "q10", About: "logs bids to files by the minute", Columns: []string{"auction", "bidder", "price", "dateTime", "extra", "dt", "hm"},
		build: func(p *plan) {
			sink := files.Partitioned(p.out.Folder,
				func(path string) overtake.Sink[*Bid] { return files.Rows(path, appendLogged) },
				files.Partitions[*Bid]{Folder: func(dst []byte, b *Bid, _ time.Time) []byte { return logFolder(dst, b.Time) }})
			overtake.To(pressure.Before(p.pressure, bidsOf(p.events)), fileSink[*Bid]{p.out, sink}, overtake.WithUID("result"))
		},
		loop: func(g *Generator, t *Tally) {
			g.eachBid(func(b *Bid) {
				at := time.UnixMilli(b.Time).UTC()
				addRow(t, func(t *Tally, b *Bid) { foldLogged(t, b, at.Format(time.DateOnly), at.Format(hourMinute)) }, b)
			})
		},
		write: writeLog, read: readLog,
	}
}

// writeLog writes q10's files by hand: the last minute's is open, and goes on to be
// written if another one's bids have come in between.
func writeLog(g *Generator, dir string) (err error) {
	var f *os.File
	out := bufio.NewWriterSize(nil, 256<<10)
	end := func() {
		if f != nil {
			err = errors.Join(err, out.Flush(), f.Sync(), f.Close())
		}
	}
	var line []byte
	last := int64(-1)
	g.eachBid(func(b *Bid) {
		if err == nil && b.Time/minute != last {
			end()
			last = b.Time / minute
			name := filepath.Join(dir, string(logFolder(nil, b.Time)), "part-0")
			err = errors.Join(err, os.MkdirAll(filepath.Dir(name), 0o777))
			if f, err = openLog(name, err); err == nil {
				out.Reset(f)
			}
		}
		if err == nil {
			line = append(appendLogged(line[:0], b), '\n')
			_, err = out.Write(line)
		}
	})
	end()
	return err
}

func openLog(name string, before error) (*os.File, error) {
	if before != nil {
		return nil, before
	}
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
}

// readLog reads what is in q10's files. Any other file is an error.
func readLog(dir string, t *Tally) error {
	return filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		below, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		path := strings.Split(filepath.ToSlash(below), "/")
		if len(path) != 3 || !strings.HasPrefix(path[2], "part-") {
			return fmt.Errorf("nexmark: %s is no file of q10's", name)
		}
		date, found := strings.CutPrefix(path[0], "dt=")
		hm, also := strings.CutPrefix(path[1], "hm=")
		hm, err = url.PathUnescape(hm)
		if !found || !also || err != nil {
			return fmt.Errorf("nexmark: %s is in no folder of q10's", name)
		}
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		err = readLogged(f, func(b *Bid) {
			addRow(t, func(t *Tally, b *Bid) { foldLogged(t, b, date, hm) }, b)
		})
		return errors.Join(err, f.Close())
	})
}

// readLogged reads the lines of a file.
func readLogged(f *os.File, each func(b *Bid)) error {
	in := bufio.NewReaderSize(f, 256<<10)
	for {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return nil
		}
		fields := strings.Split(strings.TrimSuffix(string(line), "\n"), ",")
		if err != nil || len(fields) != 5 {
			return fmt.Errorf("%w: %q in %s: %v", ErrDecode, line, f.Name(), err)
		}
		b := Bid{Extra: fields[4]}
		var at uint64
		for i, to := range []*uint64{&b.Auction, &b.Bidder, &b.Price, &at} {
			if *to, err = strconv.ParseUint(fields[i], 10, 64); err != nil {
				return fmt.Errorf("%w: %q in %s", ErrDecode, line, f.Name())
			}
		}
		b.Time = int64(at)
		each(&b)
	}
}
