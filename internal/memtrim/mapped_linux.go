package memtrim

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// span is a range of addresses.
type span struct{ from, to uintptr }

// madvPageout is MADV_PAGEOUT of madvise(2), from Linux 5.4: it reclaims pages, and keeps what was
// written to them.
const madvPageout = 21

// releaseMapped releases pages of the program's file, and of files under a folder. What can't be
// read or is refused stays, because nothing depends on it.
func releaseMapped(files string) {
	path, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer f.Close()
	if files != "" {
		if files, err = filepath.EvalSymlinks(files); err == nil { // in the system's notation
			files, err = filepath.Abs(files)
		}
		if err != nil {
			return
		}
		files += "/"
	}
	image, mapped := spans(f, path, files)
	for _, s := range image {
		// The program's own mappings stay for as long as it runs, so no other memory can have taken
		// their place since they were read.
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, s.from, s.to-s.from, syscall.MADV_DONTNEED)
	}
	for _, s := range mapped {
		// In place of these there may be other memory by now, which can be paged back in as well.
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, s.from, s.to-s.from, madvPageout)
	}
}

// spans reads smaps (proc(5)). The image is what is mapped from the file of that path, is not
// writable, and has no page that differs from the file: a linker may write to pages first, and make
// them read only afterwards. Mapped is what is shared with a file whose path begins with files.
func spans(smaps io.Reader, path, files string) (image, mapped []span) {
	var at span
	ours := false
	s := bufio.NewScanner(smaps)
	for s.Scan() {
		line := s.Text()
		if rest, ok := strings.CutPrefix(line, "Anonymous:"); ok {
			if kb := strings.Fields(rest); ours && len(kb) == 2 && kb[0] == "0" {
				image = append(image, at)
			}
			ours = false
			continue
		}
		f := strings.SplitN(line, " ", 6) // addresses, rights, offset, device, inode, name
		if len(f) < 6 || strings.HasSuffix(f[0], ":") {
			continue
		}
		from, to, ok := strings.Cut(f[0], "-")
		a, err1 := strconv.ParseUint(from, 16, 64)
		b, err2 := strconv.ParseUint(to, 16, 64)
		ok = ok && err1 == nil && err2 == nil && a < b
		at = span{uintptr(a), uintptr(b)}
		name := strings.TrimLeft(f[5], " ")
		ours = ok && name == path && (f[1] == "r-xp" || f[1] == "r--p")
		if ok && files != "" && strings.HasPrefix(name, files) && strings.HasSuffix(f[1], "s") {
			mapped = append(mapped, at)
		}
	}
	return image, mapped
}
