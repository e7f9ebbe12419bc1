//go:build amd64 || arm64

package wasm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"reflect"
	"unsafe"

	"github.com/tetratelabs/wazero"
	"golang.org/x/sys/unix"
)

// wazero reads machine code into anonymous memory, 30 MB for the module of the text extractors,
// which the system can't reclaim when memory is short. So a host with little memory
// ([Options.NoSpare]) replaces it by a file with the same bytes, of which the system keeps the
// pages that are run. It also frees the module's original code, which wazero keeps and does not
// read again, another 4 MB.
//
// The file never has a name, and nobody has it open for writing once it is written. An unprivileged
// process could open it through /proc only if it may read this process's memory, which package
// nodump prevents. The file is kept for the next load until no plugin has the module, because
// writing wears out flash.
//
// wazero has no setting for this, and both are in private fields of its module.

// worthFile is the size in bytes below which machine code stays in memory.
const worthFile = 1 << 20

var (
	errOtherCode = errors.New("it has other bytes")
	errCodeLost  = errors.New("its place in memory was lost")
)

// fileCode replaces compiled code in memory by a file. If that is not possible, the code stays in
// memory, and this is logged. After an error the code is closed.
func (p *Plugin) fileCode(ctx context.Context, c *code) error {
	h := p.host
	if !h.opt.NoSpare || h.opt.CacheDir == "" {
		return nil
	}
	is := machineCode(c.compiled)
	if is == nil || len(*is) < worthFile {
		return nil
	}
	f, err := h.codeFile(c.key, *is)
	if f == nil && err == nil {
		return nil
	}
	if err == nil {
		err = mapOver(f, *is)
	}
	if err != nil {
		err = fmt.Errorf("machine code in a file: %w", err)
		h.noFiles()
		if errors.Is(err, errCodeLost) {
			err = errors.Join(err, c.close(ctx))
			*is = nil // otherwise wazero would later unmap whatever is mapped there by then
			return err
		}
		h.opt.Logger.Info("machine code stays in memory", "plugin", p.manifest.ID, "err", err)
		return nil
	}
	c.filed = true
	dropBodies(c.compiled)
	return nil
}

// dropBodies frees the functions of a module in their original form.
func dropBodies(m wazero.CompiledModule) {
	v := reflect.ValueOf(m)
	for _, name := range []string{"module", "CodeSection"} {
		if v = reflect.Indirect(v); v.Kind() != reflect.Struct {
			return
		}
		v = v.FieldByName(name)
	}
	if v.Kind() != reflect.Slice || v.Type().Elem().Kind() != reflect.Struct {
		return
	}
	for i := range v.Len() {
		b := v.Index(i).FieldByName("Body")
		if !b.IsValid() || b.Type() != reflect.TypeFor[[]byte]() {
			return
		}
		*(*[]byte)(unsafe.Pointer(b.UnsafeAddr())) = nil
	}
}

// machineCode returns wazero's reference to the machine code of a module, or nil if this version
// keeps it elsewhere.
func machineCode(m wazero.CompiledModule) *[]byte {
	v := reflect.ValueOf(m)
	for _, name := range []string{"compiledEngine", "compiledModules"} {
		for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
			v = v.Elem()
		}
		if v.Kind() != reflect.Struct {
			return nil
		}
		v = v.FieldByName(name)
	}
	if v.Kind() != reflect.Map {
		return nil
	}
	var most *[]byte // apart from the module there is the one with the host's own functions
	for all := v.MapRange(); all.Next(); {
		one := all.Value()
		if one.Kind() != reflect.Pointer || one.Elem().Kind() != reflect.Struct {
			return nil
		}
		b := one.Elem().FieldByName("executable")
		if !b.IsValid() || b.Type() != reflect.TypeFor[[]byte]() {
			return nil
		}
		if most == nil || b.Len() > len(*most) {
			most = (*[]byte)(unsafe.Pointer(b.UnsafeAddr()))
		}
	}
	return most
}

// codeFile returns a file with these bytes: that of the last load, or a new one. It is nil if files
// can't be run. The caller holds the mutex of the key's code.
func (h *Host) codeFile(key codeKey, is []byte) (*os.File, error) {
	h.filesMu.Lock()
	f, unfiled := h.files[key], h.unfiled
	h.filesMu.Unlock()
	if f != nil || unfiled {
		return f, nil
	}
	f, err := unnamed(h.opt.CacheDir, is)
	if err != nil {
		return nil, err
	}
	h.filesMu.Lock()
	defer h.filesMu.Unlock()
	h.files[key] = f
	return f, nil
}

// unnamed writes a file that has no name and can't be given one, and opens it for reading. Some
// file systems don't have such files.
func unnamed(dir string, is []byte) (*os.File, error) {
	w, err := os.OpenFile(dir, unix.O_TMPFILE|os.O_EXCL|os.O_WRONLY, 0o400)
	if err != nil {
		return nil, err
	}
	if _, err = w.Write(is); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	// The pages can be reclaimed once they are on the disk. Nobody waits for that, because the file
	// ends with this process.
	_ = unix.SyncFileRange(int(w.Fd()), 0, 0, unix.SYNC_FILE_RANGE_WRITE)
	f, err := os.Open(fmt.Sprintf("/proc/self/fd/%d", w.Fd()))
	if err := errors.Join(err, w.Close()); err != nil {
		f.Close() // nil or read only
		return nil, err
	}
	return f, nil
}

// noFiles keeps all code in memory from now on, because another attempt would write as much, and
// fail, too. Existing mappings stay.
func (h *Host) noFiles() {
	h.filesMu.Lock()
	defer h.filesMu.Unlock()
	h.unfiled = true
	h.closeFiles(func(codeKey) bool { return true })
}

// dropFile closes a module's files if no plugin has the module any more.
func (h *Host) dropFile(module [sha256.Size]byte) {
	for _, p := range h.Plugins() {
		if p.sum == module {
			return
		}
	}
	h.filesMu.Lock()
	defer h.filesMu.Unlock()
	h.closeFiles(func(key codeKey) bool { return key.sum == module })
}

// closeFiles closes some of the files. The caller holds filesMu.
func (h *Host) closeFiles(which func(codeKey) bool) {
	for key, f := range h.files {
		if which(key) {
			f.Close() // it was only read
			delete(h.files, key)
		}
	}
}

// mapOver maps a file to the addresses of code that nobody runs yet, if it has the same bytes and
// may be run. After errCodeLost there may be nothing at these addresses; after any other error the
// code is unchanged.
func mapOver(f *os.File, is []byte) error {
	raw, err := f.SyscallConn() // keeps the descriptor even if the file is closed meanwhile
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) { failed = mapFile(fd, is) })
	return errors.Join(err, failed)
}

func mapFile(fd uintptr, is []byte) error {
	var st unix.Stat_t
	if err := unix.Fstat(int(fd), &st); err != nil {
		return err
	}
	if st.Size != int64(len(is)) { // reading beyond the end of a mapped file would end the process
		return errOtherCode
	}
	const rights, own = unix.PROT_READ | unix.PROT_EXEC, unix.MAP_PRIVATE
	seen, err := unix.Mmap(int(fd), 0, len(is), rights, own) // fails if files may not be run
	if err != nil {
		return err
	}
	same := bytes.Equal(seen, is)
	if err := unix.Munmap(seen); err != nil {
		return err
	}
	if !same {
		return errOtherCode
	}
	_, _, no := unix.Syscall6(unix.SYS_MMAP, uintptr(unsafe.Pointer(&is[0])), uintptr(len(is)), rights, own|unix.MAP_FIXED, fd, 0)
	if no != 0 { // Linux before 6.12 unmaps the old pages first
		return fmt.Errorf("%w: %w", errCodeLost, no)
	}
	return nil
}
