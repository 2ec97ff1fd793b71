package ebpf

import (
	"debug/elf"
	"encoding/binary"
)

// textStart is where Go's code begins, which .gopclntab counts from. That is not where
// .text begins if a C linker has put the program together: its own code comes first.
// Go's linker leaves the address in the module's data; before Go 1.26, which has no
// section for that, .gopclntab has it itself and does not need ours.
func textStart(f *elf.File, text *elf.Section) uint64 {
	const field = 22 * 8 // of runtime.moduledata: behind pcHeader, six slices, findfunctab, minpc and maxpc
	module := f.Section(".go.module")
	if module == nil || module.Size < field+8 {
		return text.Addr
	}
	data, err := module.Data()
	if err != nil {
		return text.Addr
	}
	start := binary.LittleEndian.Uint64(data[field:])
	if start == 0 { // position-independent: the loader puts it there
		start = relocated(f, module.Addr+field)
	}
	if start < text.Addr || start >= text.Addr+text.Size {
		return text.Addr
	}
	return start
}

// relocated is what the loader writes to an address, relative to the program; 0 if nothing.
func relocated(f *elf.File, addr uint64) uint64 {
	section := f.Section(".rela.dyn")
	if section == nil {
		return 0
	}
	table, err := section.Data()
	if err != nil {
		return 0
	}
	for ; len(table) >= 24; table = table[24:] {
		if binary.LittleEndian.Uint64(table) == addr {
			return binary.LittleEndian.Uint64(table[16:])
		}
	}
	return 0
}
