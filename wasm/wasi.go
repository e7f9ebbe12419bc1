package wasm

import (
	"crypto/sha256"
	"errors"
	"math/rand/v2"

	"github.com/tetratelabs/wazero/api"

	"github.com/locket-dev/locket/wasm/abi"
)

// wasiModule is imported by guests with their own runtime. Almost nothing is behind it: no argument
// but the plugin's own id, no variable, no file, no clock but the event's time, and random numbers
// that depend on the event.
const wasiModule = "wasi_snapshot_preview1"

// Error numbers of WASI preview 1.
const (
	wasiOK    = 0
	wasiBadf  = 8
	wasiFault = 21
	wasiNoSys = 52
)

var errExit = errors.New("it called proc_exit")

var wasiFunctions = makeWASI()

func makeWASI() map[string]hostFunction {
	types := func(s string) (v []api.ValueType) {
		for _, c := range s {
			if c == 'I' {
				v = append(v, i64)
			} else {
				v = append(v, i32)
			}
		}
		return v
	}
	m := map[string]hostFunction{}
	define := func(name, params string, run func(in *instance, mem api.Memory, stack []uint64)) {
		m[name] = hostFunction{params: types(params), results: types("i"), run: run}
	}
	deny := func(errno uint64, list map[string]string) {
		for name, params := range list {
			define(name, params, func(_ *instance, _ api.Memory, stack []uint64) { stack[0] = errno })
		}
	}
	deny(wasiBadf, map[string]string{
		"fd_advise": "iIIi", "fd_allocate": "iII", "fd_close": "i", "fd_datasync": "i",
		"fd_fdstat_set_flags": "ii", "fd_fdstat_set_rights": "iII", "fd_filestat_get": "ii",
		"fd_filestat_set_size": "iI", "fd_filestat_set_times": "iIIi", "fd_pread": "iiiIi",
		"fd_prestat_dir_name": "iii", "fd_prestat_get": "ii", "fd_pwrite": "iiiIi", "fd_read": "iiii",
		"fd_readdir": "iiiIi", "fd_renumber": "ii", "fd_seek": "iIii", "fd_sync": "i", "fd_tell": "ii",
		"path_create_directory": "iii", "path_filestat_get": "iiiii", "path_filestat_set_times": "iiiiIIi",
		"path_link": "iiiiiii", "path_open": "iiiiiIIii", "path_readlink": "iiiiii",
		"path_remove_directory": "iii", "path_rename": "iiiiii", "path_symlink": "iiiii", "path_unlink_file": "iii",
		"fd_fdstat_get": "ii",
	})
	deny(wasiNoSys, map[string]string{"poll_oneoff": "iiii", "proc_raise": "i"})
	deny(wasiOK, map[string]string{"environ_get": "ii", "sched_yield": ""})
	define("args_get", "ii", wasiArgs)
	define("args_sizes_get", "ii", func(in *instance, mem api.Memory, s []uint64) {
		wasiSizes(mem, s, 1, uint32(len(in.p.manifest.ID)+1))
	})
	define("environ_sizes_get", "ii", func(_ *instance, mem api.Memory, s []uint64) { wasiSizes(mem, s, 0, 0) })
	define("clock_res_get", "ii", func(_ *instance, mem api.Memory, s []uint64) {
		s[0] = wrote(mem.WriteUint64Le(uint32(s[1]), 1_000_000))
	})
	define("clock_time_get", "iIi", func(in *instance, mem api.Memory, s []uint64) {
		now := uint64(1) // Go's runtime does not accept a clock at zero
		if in.at > 0 && s[0] == 0 {
			now = uint64(in.at) * 1_000_000
		}
		s[0] = wrote(mem.WriteUint64Le(uint32(s[2]), now))
	})
	define("random_get", "ii", wasiRandom)
	define("fd_write", "iiii", wasiWrite)
	m["proc_exit"] = hostFunction{params: types("i"), run: func(in *instance, _ api.Memory, _ []uint64) { in.end(errExit) }}
	return m
}

func wrote(ok bool) uint64 {
	if ok {
		return wasiOK
	}
	return wasiFault
}

// wasiSizes writes how many strings there are, and the size of all of them, each with a zero at its
// end.
func wasiSizes(mem api.Memory, s []uint64, count, size uint32) {
	s[0] = wrote(mem.WriteUint32Le(uint32(s[0]), count) && mem.WriteUint32Le(uint32(s[1]), size))
}

// wasiArgs writes the one argument, the plugin's id.
func wasiArgs(in *instance, mem api.Memory, s []uint64) {
	list, data := uint32(s[0]), uint32(s[1])
	s[0] = wrote(mem.WriteUint32Le(list, data) && mem.WriteString(data, in.p.manifest.ID+"\x00"))
}

// wasiRandom returns the same numbers for the same plugin and event.
func wasiRandom(in *instance, mem api.Memory, s []uint64) {
	b, ok := mem.Read(uint32(s[0]), uint32(s[1]))
	if !ok {
		s[0] = wasiFault
		return
	}
	in.charge(uint64(len(b)) / 4) // ChaCha8 is about 16 times slower than a copy
	if in.rng == nil {
		in.rng = rand.NewChaCha8(sha256.Sum256([]byte(in.p.manifest.ID + "\x00" + in.id)))
	}
	_, _ = in.rng.Read(b) // it never fails
	s[0] = wasiOK
}

// wasiWrite accepts what a guest writes to standard output or error, most often as it dies, and
// drops it, because it may quote the guest's input.
func wasiWrite(in *instance, mem api.Memory, s []uint64) {
	fd, list, n := uint32(s[0]), uint32(s[1]), uint32(s[2])
	if fd != 1 && fd != 2 {
		s[0] = wasiBadf
		return
	}
	var total uint32
	for i := range min(n, 16) {
		ptr, ok := mem.ReadUint32Le(list + 8*i)
		size, ok2 := mem.ReadUint32Le(list + 8*i + 4)
		if !ok || !ok2 {
			s[0] = wasiFault
			return
		}
		p, ok := mem.Read(ptr, size)
		if !ok {
			s[0] = wasiFault
			return
		}
		total += size
		if w := in.p.host.opt.Stderr; w != nil {
			_, _ = w.Write(p[:min(len(p), abi.MaxError)]) // nobody waits for it
		}
	}
	s[0] = wrote(mem.WriteUint32Le(uint32(s[3]), total))
}
