package checkpoint

import (
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strings"
)

// start opens the catalogue and makes it agree with the manifests.
func (s *dirStore) start() error {
	all, err := s.openCatalogue()
	if err != nil && !diskFailed(err) {
		// It is made from the manifests, so a new one is as good, whatever is wrong.
		if err := s.discardCatalogue(); err != nil {
			return err
		}
		all, err = s.openCatalogue()
	}
	if err != nil {
		return err
	}
	return s.reconcile(all)
}

// diskFailed says whether an error of the catalogue is one of writing.
func diskFailed(err error) bool {
	var failed *IOError
	return errors.As(err, &failed) && failed.Op != "use"
}

// openCatalogue opens and reads the catalogue. If that fails, none is open.
func (s *dirStore) openCatalogue() (*catalogued, error) {
	cat, err := openCatalogue(s.layout)
	if err != nil {
		return nil, err
	}
	all, err := cat.load()
	if err == nil && all.version != catalogueVersion && !(all.version == 0 && len(all.entries) == 0) {
		err = &VersionError{File: cat.path, Found: uint32(all.version), Known: catalogueVersion}
	}
	if err != nil {
		_ = cat.close() // the first error is the one to tell
		return nil, err
	}
	s.cat = cat
	return all, nil
}

func (s *dirStore) discardCatalogue() error {
	dir := s.path(catalogueDir)
	if err := s.fs.RemoveAll(dir); err != nil {
		return ioError("remove", dir, err)
	}
	return s.syncDir(s.root)
}

// found is what the directory of manifests holds.
type found struct {
	entries map[ID]entry
	damaged map[ID]bool
}

// reconcile finishes drops, reads all manifests and corrects the catalogue.
func (s *dirStore) reconcile(all *catalogued) error {
	if err := s.finishDrops(all); err != nil {
		return err
	}
	there, err := s.readManifests()
	if err != nil {
		return err
	}
	s.dropping, s.unknown = map[ID]entry{}, map[ID]bool{}
	for id := range there.damaged {
		if _, known := all.entries[id]; !known {
			s.unknown[id] = true
		}
	}
	s.owners = map[BlobName]int{}
	for id, en := range all.entries { // of a damaged manifest it keeps what it knows
		if _, ok := there.entries[id]; !ok && there.damaged[id] {
			there.entries[id] = en
		}
	}
	for _, en := range there.entries {
		s.own(en, 1)
	}
	return s.cat.apply(func(ch change) error { return correct(ch, all, there.entries) })
}

// finishDrops removes what must not be found: manifests that were being dropped, and
// temporary files of manifests, which only the owner of the lock writes.
func (s *dirStore) finishDrops(all *catalogued) error {
	dir := s.path(manifestsDir)
	files, err := s.fs.List(dir)
	if err != nil {
		return ioError("list", dir, err)
	}
	for _, file := range files {
		id, ok := ParseManifestName(file)
		_, dropped := all.dropped[id]
		if ok && dropped || strings.HasSuffix(file, tmpSuffix) {
			if err := s.remove(s.path(manifestsDir, file)); err != nil {
				return err
			}
		}
	}
	// Manifests may also be there that were renamed and not synced before a crash.
	if err := s.syncDir(dir); err != nil {
		return err
	}
	return s.removeEpochs()
}

// removeEpochs removes temporary files of the epoch, which only the owner of the lock
// writes, too.
func (s *dirStore) removeEpochs() error {
	files, err := s.fs.List(s.root)
	if err != nil {
		return ioError("list", s.root, err)
	}
	for _, file := range files {
		if strings.HasPrefix(file, epochFile+".") && strings.HasSuffix(file, tmpSuffix) {
			if err := s.remove(s.path(file)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *dirStore) readManifests() (found, error) {
	there := found{entries: map[ID]entry{}, damaged: map[ID]bool{}}
	ids, err := s.ids()
	if err != nil {
		return there, err
	}
	for _, id := range ids {
		path := s.manifest(id)
		data, err := s.readFile(path, MaxManifest)
		var m *Manifest
		if err == nil {
			m, err = DecodeManifest(path, data)
		}
		if err == nil && m.ID != id {
			err = &CorruptError{File: path, Offset: manifestHeader, Reason: fmt.Sprintf("it is the manifest of %d", m.ID)}
		}
		if err != nil {
			there.damaged[id] = true
			continue
		}
		there.entries[id] = newEntry(m, data)
	}
	return there, nil
}

// correct makes the catalogue say what is there.
func correct(ch change, all *catalogued, want map[ID]entry) error {
	err := ch.batch.Set([]byte{keyVersion}, []byte{catalogueVersion}, nil)
	for _, id := range slices.Sorted(maps.Keys(all.entries)) {
		if _, ok := want[id]; !ok {
			err = errors.Join(err, ch.delete(id))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(want)) {
		if old, ok := all.entries[id]; !ok || !slices.Equal(old.encode(), want[id].encode()) {
			err = errors.Join(err, ch.put(id, want[id]))
		}
	}
	for id := range all.dropped {
		err = errors.Join(err, ch.batch.Delete(idKey(keyDropped, id), nil))
	}
	return err
}

// own counts n checkpoints more that refer to the blobs of an entry.
func (s *dirStore) own(en entry, n int) {
	for _, ref := range en.blobs {
		if s.owners[ref.Name] += n; s.owners[ref.Name] == 0 {
			delete(s.owners, ref.Name)
		}
	}
}

// fileSum is the checksum by which the catalogue knows a manifest's file.
func fileSum(file []byte) uint32 { return crc32.Checksum(file, castagnoli()) }
