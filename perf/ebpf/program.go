package ebpf

import (
	"bytes"
	"debug/elf"
	"debug/gosym"
	"errors"
	"fmt"
	"io"

	"github.com/overtake-stream/overtake/perf/probe"
)

// ErrNoProbes means that a program does not contain package probe.
var ErrNoProbes = errors.New("the program has no probe points: it does not use Overtake's exchange, or is of another version")

// program is a Go program's file: where its functions and probe points are. It needs no
// symbol table, so stripped and position-independent programs are fine.
type program struct {
	file  *elf.File
	table *gosym.Table
}

// sites are the probe points of a program, as offsets in its file.
type sites struct {
	writeBegin, processed uint64 // of the 5-byte no-op on amd64
	lead                  uint64 // bytes that a smaller no-op is in front of these, 0: there is none
	semaphores            uint64 // the first one; the others follow by 2 bytes
}

// openProgram reads the tables of a Go program. It takes nothing: r may be closed once
// the tables have been read.
func openProgram(r io.ReaderAt) (*program, error) {
	f, err := elf.NewFile(r)
	if err != nil {
		return nil, fmt.Errorf("%w (it is no ELF file: %w)", ErrNoProbes, err)
	}
	text := f.Section(".text")
	lines := f.Section(".gopclntab")
	if lines == nil {
		lines = f.Section(".data.rel.ro.gopclntab")
	}
	if text == nil || lines == nil {
		return nil, fmt.Errorf("%w (it is not a Go program: there is no .gopclntab)", ErrNoProbes)
	}
	data, err := lines.Data()
	if err != nil {
		return nil, fmt.Errorf("its .gopclntab: %w", err)
	}
	table, err := gosym.NewTable(nil, gosym.NewLineTable(data, textStart(f, text)))
	if err != nil {
		return nil, fmt.Errorf("its .gopclntab: %w", err)
	}
	return &program{file: f, table: table}, nil
}

// sites finds the probe points.
func (b *program) sites() (s sites, err error) {
	const pkg = "github.com/overtake-stream/overtake/perf/probe."
	if s.writeBegin, s.lead, err = b.stub(pkg + "WriteBegin"); err != nil {
		return s, err
	}
	if s.processed, s.lead, err = b.stub(pkg + "Processed"); err != nil {
		return s, err
	}
	s.semaphores, err = b.semaphores()
	return s, err
}

// stubCode is how a stub ends, and where in that its no-ops are.
var stubCode = map[elf.Machine]struct {
	code     []byte
	nop, pre uint64
}{
	elf.EM_X86_64:  {[]byte{0x90, 0x0f, 0x1f, 0x44, 0, 0, 0xc3}, 1, 1},
	elf.EM_AARCH64: {[]byte{0x1f, 0x20, 0x03, 0xd5, 0xc0, 0x03, 0x5f, 0xd6}, 0, 0},
}

// stub finds the no-op in a function. The assembly's name is also that of a wrapper
// which calls it.
func (b *program) stub(name string) (offset, lead uint64, err error) {
	pattern, ok := stubCode[b.file.Machine]
	if !ok {
		return 0, 0, fmt.Errorf("%w (for %v)", ErrNoProbes, b.file.Machine)
	}
	for i := range b.table.Funcs {
		f := &b.table.Funcs[i]
		if f.Name != name {
			continue
		}
		code := make([]byte, min(f.End-f.Entry, 256))
		at, err := b.offset(f.Entry)
		if err != nil {
			return 0, 0, err
		}
		if err := b.read(code, f.Entry); err != nil {
			return 0, 0, err
		}
		if i := bytes.Index(code, pattern.code); i >= 0 {
			return at + uint64(i) + pattern.nop, pattern.pre, nil
		}
	}
	return 0, 0, ErrNoProbes
}

// semaphores finds the gate in the writable data.
func (b *program) semaphores() (uint64, error) {
	magic := probe.Magic()
	for _, p := range b.file.Progs {
		if p.Type != elf.PT_LOAD || p.Flags&elf.PF_W == 0 {
			continue
		}
		data := make([]byte, p.Filesz)
		if _, err := p.ReadAt(data, 0); err != nil {
			return 0, fmt.Errorf("its data: %w", err)
		}
		if i := bytes.Index(data, magic[:]); i >= 0 {
			return p.Off + uint64(i+len(magic)), nil
		}
	}
	return 0, ErrNoProbes
}

// segment returns the part of the file that an address is loaded from.
func (b *program) segment(addr uint64) *elf.Prog {
	for _, p := range b.file.Progs {
		if p.Type == elf.PT_LOAD && addr >= p.Vaddr && addr < p.Vaddr+p.Filesz {
			return p
		}
	}
	return nil
}

func (b *program) offset(addr uint64) (uint64, error) {
	p := b.segment(addr)
	if p == nil {
		return 0, fmt.Errorf("address %#x is in no segment", addr)
	}
	return addr - p.Vaddr + p.Off, nil
}

func (b *program) read(dst []byte, addr uint64) error {
	p := b.segment(addr)
	if p == nil {
		return fmt.Errorf("address %#x is in no segment", addr)
	}
	_, err := p.ReadAt(dst, int64(addr-p.Vaddr))
	return err
}

// function names the function at an address as linked, "" if there is none.
func (b *program) function(addr uint64) string {
	if f := b.table.PCToFunc(addr); f != nil {
		return f.Name
	}
	return ""
}
