//go:build wasip1

// Package guest is the library for a Locket plugin in Go. The plugin's main package registers one
// function, in an init, and does nothing else:
//
//	func init() { guest.Register(extract) }
//	func main() {}
//
//	func extract(e *abi.Event, o *abi.Output) error { … }
//
// Built with GOOS=wasip1 GOARCH=wasm and -buildmode=c-shared, it exports what docs/wasm.md asks of
// a plugin. It does not use fmt, reflect, regexp or encoding/json, and neither should a plugin,
// because they double the module's size.
package guest

import (
	"unsafe"

	"github.com/locket-dev/locket/wasm/abi"
)

// Extract turns an event into an output, which is empty at first. The
// event's strings and bytes lie in a buffer that the next call overwrites:
// clone what you keep, or better return it as Output.State, since an
// instance may be replaced after any call. An error is passed to the host,
// which shows its first kilobyte to the wearer; it should not quote the
// event.
type Extract func(e *abi.Event, o *abi.Output) error

// A guest runs one call at a time, so these need no lock.
var (
	extract Extract
	event   abi.Event
	output  abi.Output
	in, out []byte
)

// Register sets the plugin's function. The last call counts.
func Register(f Extract) { extract = f }

//go:wasmexport locket_abi
func locketABI() uint32 { return abi.Version }

// locket_alloc makes room for n bytes of input, until the next call; 0: there is
// none.
//
//go:wasmexport locket_alloc
func locketAlloc(n uint32) uint32 {
	if n > abi.MaxInput {
		return 0
	}
	if n == 0 {
		n = 1
	}
	if uint32(cap(in)) < n {
		in = nil // so that it can be collected before the new one is made
		in = make([]byte, n, max(n, 4096))
	}
	in = in[:n]
	return address(in)
}

//go:wasmexport locket_extract
func locketExtract(ptr, n uint32) uint64 {
	if len(in) == 0 || ptr != address(in) || uint64(n) > uint64(cap(in)) {
		return failed(abi.CodeRange, "input is not where locket_alloc put it")
	}
	if extract == nil {
		return failed(abi.CodePlugin, "no function is registered")
	}
	if err := abi.DecodeEvent(in[:n], &event); err != nil {
		code := abi.CodePlugin
		if e, ok := err.(*abi.Error); ok {
			code = e.Code
		}
		return failed(code, err.Error())
	}
	output.Reset()
	if err := extract(&event, &output); err != nil {
		return failed(abi.CodePlugin, err.Error())
	}
	if output.Empty() {
		return 0
	}
	out = abi.AppendOutput(out[:0], &output)
	return uint64(address(out))<<32 | uint64(len(out))
}

// failed answers with an error: bit 31 of the length is set.
func failed(code abi.Code, text string) uint64 {
	out = abi.AppendError(out[:0], code, text)
	return uint64(address(out))<<32 | 1<<31 | uint64(len(out))
}

func address(b []byte) uint32 { return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }
