//go:build wasip1

package guest

import "unsafe"

//go:wasmimport locket log
//go:noescape
func hostLog(ptr unsafe.Pointer, n uint32)

//go:wasmimport locket config
//go:noescape
func hostConfig(key unsafe.Pointer, keyLen uint32, value unsafe.Pointer, valueLen uint32) int32

//go:wasmimport locket now
func hostNow() int64

// Log adds a line to the plugin's own log, which only the wearer sees. It needs the
// capability "log". Lines over 256 bytes are cut, and after 16 lines in one call the rest is
// dropped.
func Log(line string) {
	hostLog(unsafe.Pointer(unsafe.StringData(line)), uint32(len(line)))
}

// Config returns the wearer's setting for the plugin under key, and whether there is one. It needs
// the capability "config".
func Config(key string) (string, bool) {
	buf := make([]byte, 64)
	for {
		n := hostConfig(unsafe.Pointer(unsafe.StringData(key)), uint32(len(key)), unsafe.Pointer(unsafe.SliceData(buf)), uint32(len(buf)))
		switch {
		case n < 0:
			return "", false
		case int(n) <= len(buf):
			return string(buf[:n]), true
		}
		buf = make([]byte, n)
	}
}

// Now is the event's time in ms since 1970: there is no other clock. It needs the capability
// "now".
func Now() int64 { return hostNow() }

//go:wasmimport wasi_snapshot_preview1 args_sizes_get
//go:noescape
func argsSizes(count, size unsafe.Pointer) uint32

//go:wasmimport wasi_snapshot_preview1 args_get
//go:noescape
func argsGet(list, data unsafe.Pointer) uint32

// Name returns the id of the manifest under which the host runs the module, so that one module can
// be several plugins.
func Name() string {
	var count, size uint32
	if argsSizes(unsafe.Pointer(&count), unsafe.Pointer(&size)) != 0 || count != 1 || size == 0 {
		return ""
	}
	var at uint32
	data := make([]byte, size)
	if argsGet(unsafe.Pointer(&at), unsafe.Pointer(unsafe.SliceData(data))) != 0 {
		return ""
	}
	return string(data[:size-1]) // without the zero byte
}
