package checkpoint

// Owners returns who refers to each blob, as the catalogue of a directory has it.
func Owners(s Store) (map[BlobName]map[ID]bool, error) {
	d := s.(*dirStore)
	d.mu.Lock()
	defer d.mu.Unlock()
	all, err := d.cat.load()
	if err != nil {
		return nil, err
	}
	return all.owners, nil
}
