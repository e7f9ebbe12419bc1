//go:build linux && (amd64 || arm64 || riscv64 || arm)

package jail

import "golang.org/x/sys/unix"

// Offsets in struct seccomp_data (linux/seccomp.h) on little-endian machines.
const (
	offNumber = 0
	offArch   = 4
	offArgs   = 16
)

// program is the filter, in classic BPF.
type program []unix.SockFilter

// If the steps were inlined, they would make kilobytes of code.
//
//go:noinline
func (p *program) op(code uint16, k uint32, jt, jf uint8) {
	*p = append(*p, unix.SockFilter{Code: code, Jt: jt, Jf: jf, K: k})
}

func (p *program) load(offset uint32)       { p.op(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, offset, 0, 0) }
func (p *program) end(action uint32)        { p.op(unix.BPF_RET|unix.BPF_K, action, 0, 0) }
func (p *program) unless(k uint32, n uint8) { p.op(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, k, 0, n) }

// when adds steps for one call. They are skipped for other calls.
func (p *program) when(number uint32, steps func(*program)) {
	var body program
	steps(&body)
	p.unless(number, uint8(len(body)))
	*p = append(*p, body...)
}
