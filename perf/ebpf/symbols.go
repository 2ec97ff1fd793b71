package ebpf

import (
	"debug/elf"
	"fmt"
	"os"
	"strings"
)

// symbols names addresses in a running process.
type symbols struct {
	program *program // nil: it cannot be read
	bias    uint64   // where it is loaded, against where it is linked
}

func symbolsOf(pid int) *symbols {
	f, err := os.Open(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return &symbols{}
	}
	defer func() { _ = f.Close() }()
	p, err := openProgram(f)
	if err != nil {
		return &symbols{}
	}
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return &symbols{}
	}
	exe, _ := os.Readlink(f.Name())
	return &symbols{program: p, bias: p.bias(string(maps), exe)}
}

// bias is how far a program's code is from where it is linked, by the list of a
// process's mappings.
func (b *program) bias(maps, exe string) uint64 {
	for line := range strings.Lines(maps) {
		var start, end, offset uint64
		var mode string
		if n, _ := fmt.Sscanf(line, "%x-%x %s %x", &start, &end, &mode, &offset); n < 4 {
			continue
		}
		if !strings.Contains(mode, "x") || !strings.HasSuffix(strings.TrimSpace(line), exe) {
			continue
		}
		for _, p := range b.file.Progs {
			if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && p.Off <= offset && offset < p.Off+p.Filesz {
				return start - (p.Vaddr + offset - p.Off)
			}
		}
	}
	return 0
}

// names returns the functions of a stack, the innermost first.
func (s *symbols) names(pcs []uint64) (names []string) {
	for i, pc := range pcs {
		if pc == 0 {
			break
		}
		if i > 0 {
			pc-- // a return address may be behind the function that called last
		}
		names = append(names, s.name(pc))
	}
	return names
}

func (s *symbols) name(pc uint64) string {
	if s.program != nil {
		if name := s.program.function(pc - s.bias); name != "" {
			return name
		}
	}
	return fmt.Sprintf("[%#x]", pc)
}
