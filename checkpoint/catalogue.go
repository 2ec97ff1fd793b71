package checkpoint

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// catalogue is the Pebble store beside the manifests. Its owner holds the store's
// lock, and calls one method at a time.
type catalogue struct {
	db    *pebble.DB
	path  string
	guard *guard
	write *pebble.WriteOptions
}

// openCatalogue opens or creates the catalogue of a store. It reads nothing: see load.
func openCatalogue(l layout) (*catalogue, error) {
	c := &catalogue{path: l.path(catalogueDir), guard: &guard{}, write: pebble.Sync}
	if l.noSync {
		c.write = pebble.NoSync
	}
	o := &pebble.Options{
		FS:                 guardFS{l.fs, c.guard},
		Logger:             c.guard,
		FormatMajorVersion: pebble.FormatTableFormatV6,
		CacheSize:          1 << 20,
		MemTableSize:       1 << 20,
		MaxOpenFiles:       64,
		DisableTableStats:  true, // a failed Open does not wait for them, and they crash; it is small
		EventListener:      &pebble.EventListener{BackgroundError: c.guard.fail},
	}
	compactions := newScheduler()
	o.Experimental.CompactionScheduler = compactions
	err := c.do(func() (err error) {
		c.db, err = pebble.Open(c.path, o)
		return err
	})
	if err != nil {
		if c.db != nil {
			_ = c.close() // opening has failed, and that is the error
		}
		return nil, err
	}
	compactions.open.Store(true)
	return c, nil
}

// do runs a use of Pebble. If the disk has failed, at this or at any earlier use, that
// is the error.
func (c *catalogue) do(use func() error) error {
	if failure := c.guard.err(); failure != nil {
		return c.failed(failure)
	}
	err := use()
	if failure := c.guard.err(); failure != nil {
		err = failure
	}
	return c.failed(err)
}

// failed names the catalogue in an error that names no file.
func (c *catalogue) failed(err error) error { return ioError("use", c.path, err) }

// close closes Pebble. If the disk has failed, now or before, it says so.
func (c *catalogue) close() error {
	err := c.db.Close()
	if failure := c.guard.err(); failure != nil {
		err = failure
	}
	return c.failed(err)
}

// catalogued is all that a catalogue holds.
type catalogued struct {
	version byte // 0 if it is new
	entries map[ID]entry
	dropped map[ID]entry
}

// load reads the whole catalogue, and so compares it with all its checksums.
func (c *catalogue) load() (*catalogued, error) {
	all := &catalogued{entries: map[ID]entry{}, dropped: map[ID]entry{}}
	err := c.do(func() error {
		it, err := c.db.NewIter(nil)
		if err != nil {
			return err
		}
		for it.First(); it.Valid() && err == nil; it.Next() {
			err = all.add(it.Key(), it.Value())
		}
		return errors.Join(err, it.Error(), it.Close())
	})
	return all, err
}

func (all *catalogued) add(key, value []byte) error {
	switch {
	case len(key) == 1 && key[0] == keyVersion && len(value) == 1:
		all.version = value[0]
	case len(key) == 9 && (key[0] == keyEntry || key[0] == keyDropped):
		en, err := decodeEntry(value)
		if err != nil {
			return err
		}
		if id := ID(binary.BigEndian.Uint64(key[1:])); key[0] == keyEntry {
			all.entries[id] = en
		} else {
			all.dropped[id] = en
		}
	default:
		return &CorruptError{File: catalogueDir, Reason: fmt.Sprintf("key %x is unknown", key)}
	}
	return nil
}

// change is a batch that is applied as a whole.
type change struct{ batch *pebble.Batch }

func (ch change) put(id ID, en entry) error {
	return ch.batch.Set(idKey(keyEntry, id), en.encode(), nil)
}

func (ch change) delete(id ID) error { return ch.batch.Delete(idKey(keyEntry, id), nil) }

// apply makes a change durable. After an error it may be there or not.
func (c *catalogue) apply(fill func(change) error) error { return c.commit(c.write, fill) }

// note makes a change that a crash may undo: opening would make it again, from the
// manifests. A sync for each would be one more that a checkpoint waits for.
func (c *catalogue) note(fill func(change) error) error { return c.commit(pebble.NoSync, fill) }

func (c *catalogue) commit(o *pebble.WriteOptions, fill func(change) error) error {
	return c.do(func() error {
		batch := c.db.NewBatch()
		err := fill(change{batch})
		if err == nil && !batch.Empty() {
			err = batch.Commit(o)
		}
		return errors.Join(err, batch.Close())
	})
}

// publish adds a checkpoint, whose manifest is durable.
func (c *catalogue) publish(id ID, en entry) error {
	return c.note(func(ch change) error { return ch.put(id, en) })
}

// drop removes a checkpoint, and remembers that its files are to be removed.
func (c *catalogue) drop(id ID, en entry) error {
	return c.note(func(ch change) error {
		return errors.Join(ch.delete(id), ch.batch.Set(idKey(keyDropped, id), en.encode(), nil))
	})
}

// forget ends a drop. It need not be durable: opening would do it again.
func (c *catalogue) forget(id ID) error {
	return c.do(func() error { return c.db.Delete(idKey(keyDropped, id), pebble.NoSync) })
}

// entry returns what is known of a checkpoint.
func (c *catalogue) entry(id ID) (en entry, found bool, err error) {
	err = c.do(func() error {
		value, closer, err := c.db.Get(idKey(keyEntry, id))
		if errors.Is(err, pebble.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		found = true
		en, err = decodeEntry(value)
		return errors.Join(err, closer.Close())
	})
	return en, found, err
}
