package checkpoint

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// Owners returns who refers to each blob, as the catalogue of a directory has it, which
// has to be what the store has counted.
func Owners(s Store) (map[BlobName]map[ID]bool, error) {
	d := s.(*dirStore)
	d.mu.Lock()
	defer d.mu.Unlock()
	all, err := d.cat.load()
	if err != nil {
		return nil, err
	}
	owners := map[BlobName]map[ID]bool{}
	for id, en := range all.entries {
		for _, ref := range en.blobs {
			if owners[ref.Name] == nil {
				owners[ref.Name] = map[ID]bool{}
			}
			owners[ref.Name][id] = true
		}
	}
	for name, n := range d.owners {
		if len(owners[name]) != n {
			return nil, fmt.Errorf("%v has %d owners, counted %d", name, len(owners[name]), n)
		}
	}
	if len(owners) != len(d.owners) {
		return nil, fmt.Errorf("%d blobs have owners, counted %d", len(owners), len(d.owners))
	}
	return owners, nil
}

// Seal corrects the length and the checksums of a damaged manifest.
func Seal(data []byte) []byte {
	body := data[manifestHeader:]
	binary.LittleEndian.PutUint64(data[12:], uint64(len(body)))
	binary.LittleEndian.PutUint32(data[20:], crc32.Checksum(body, castagnoli()))
	binary.LittleEndian.PutUint32(data[24:], crc32.Checksum(data[:24], castagnoli()))
	return data
}

// SealBlock corrects the checksum of the first block of a blob's file, of n stored bytes.
func SealBlock(file []byte, n int) []byte {
	head := file[blobHeader : blobHeader+blockHeader]
	data := file[blobHeader+blockHeader : blobHeader+blockHeader+n]
	binary.LittleEndian.PutUint32(head[8:], placedCRC(blobHeader, head[:8], data))
	return file
}
