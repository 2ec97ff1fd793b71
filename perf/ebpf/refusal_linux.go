package ebpf

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// refusal explains an error of the kernel in its own words. The library's advice on
// memory limits is left out: it is given for every EPERM.
func refusal(part, loses string, err error) Refusal {
	if errors.Is(err, ebpf.ErrNotSupported) {
		err = notPermitted(err)
	}
	r := Refusal{Part: part, Reason: kernelWords(err), Loses: loses}
	switch {
	case errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES):
		r.Remedy = setcap("cap_bpf,cap_perfmon")
		if missing := missingCapabilities(capBPF, capPerfmon); len(missing) > 0 {
			r.Reason += ": this process lacks " + strings.Join(missing, " and ")
		} else {
			r.Remedy = ""
		}
		if b, readErr := os.ReadFile("/proc/sys/kernel/unprivileged_bpf_disabled"); readErr == nil && r.Remedy != "" {
			r.Reason += fmt.Sprintf(" (kernel.unprivileged_bpf_disabled=%s)", strings.TrimSpace(string(b)))
		}
	case errors.Is(err, ebpf.ErrNotSupported):
		r.Reason += " (the kernel is too old, or built without it)"
	}
	return r
}

// notPermitted is the kernel's refusal of the simplest of all maps if it refuses even that, or else
// err. After each refusal the library asks the kernel for features, and takes no for "not supported",
// whatever the reason: with a map that needs a feature, and no privileges, this is wrong.
func notPermitted(err error) error {
	m, refused := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 4, MaxEntries: 1})
	if errors.Is(refused, unix.EPERM) {
		return refused
	}
	if refused == nil {
		err = errors.Join(err, m.Close())
	}
	return err
}

// setcap is the line that gives this program what it needs.
func setcap(capabilities string) string {
	name, err := os.Executable()
	if err != nil {
		name = "PROGRAM"
	}
	return fmt.Sprintf("run as root, or once: setcap %s+ep %s", capabilities, name)
}

func kernelWords(err error) string {
	var verifier *ebpf.VerifierError
	if errors.As(err, &verifier) && len(verifier.Log) > 0 {
		return fmt.Sprintf("%v: %s", verifier.Cause, verifier.Log[len(verifier.Log)-1])
	}
	var errno unix.Errno
	if errors.As(err, &errno) {
		return errno.Error()
	}
	return err.Error()
}

// Numbers of capabilities.
const (
	capSysPtrace = 19
	capPerfmon   = 38
	capBPF       = 39
)

// missingCapabilities names those of the given ones that are not effective. CAP_SYS_ADMIN stands for
// the two newer ones.
func missingCapabilities(caps ...int) (missing []string) {
	names := map[int]string{capSysPtrace: "CAP_SYS_PTRACE", capPerfmon: "CAP_PERFMON", capBPF: "CAP_BPF"}
	have := effectiveCapabilities()
	for _, c := range caps {
		if have&(1<<c) == 0 {
			missing = append(missing, names[c])
		}
	}
	return missing
}

func effectiveCapabilities() (caps uint64) {
	b, err := os.ReadFile("/proc/thread-self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if hex, ok := strings.CutPrefix(line, "CapEff:"); ok {
			_, _ = fmt.Sscanf(strings.TrimSpace(hex), "%x", &caps)
		}
	}
	return caps
}
