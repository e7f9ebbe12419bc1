package memtrim

import (
	"bytes"
	"crypto/sha256"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

const smaps = `00400000-01ad2000 r-xp 00000000 fe:00 10716127                           /usr/bin/locket
Size:              23368 kB
Rss:               15624 kB
Anonymous:             0 kB
VmFlags: rd ex mr mw me
01ad2000-038b2000 r--p 016d2000 fe:00 10716127                           /usr/bin/locket
Rss:               20096 kB
Anonymous:             0 kB
038b2000-039bc000 rw-p 034b2000 fe:00 10716127                           /usr/bin/locket
Anonymous:             0 kB
039c0000-039c8000 r--p 034c2000 fe:00 10716127                           /usr/bin/locket
Anonymous:            12 kB
039d0000-039e0000 rw-p 00000000 00:00 0
Anonymous:             0 kB
7f0000000000-7f0000200000 r--s 00000000 fe:00 77                         /home/w/store/records/000001.sst
Anonymous:             0 kB
7f0000200000-7f0000300000 r--p 00000000 fe:00 78                         /usr/bin/locket-bridge
Anonymous:             0 kB
`

// Pages that are writable, that differ from their file, or that belong to another file stay.
func TestSpans(t *testing.T) {
	wantImage := []span{{0x400000, 0x1ad2000}, {0x1ad2000, 0x38b2000}}
	wantMapped := []span{{0x7f0000000000, 0x7f0000200000}}
	image, mapped := spans(strings.NewReader(smaps), "/usr/bin/locket", "/home/w/store/")
	if !slices.Equal(image, wantImage) || !slices.Equal(mapped, wantMapped) {
		t.Errorf("%x and %x, want %x and %x", image, mapped, wantImage, wantMapped)
	}
	if _, mapped := spans(strings.NewReader(smaps), "/usr/bin/locket", ""); len(mapped) != 0 {
		t.Errorf("of no folder: %x", mapped)
	}
	garbage := "garbage\n1-\nzz-yy r-xp 0 0 0 /usr/bin/locket\nAnonymous: 0 kB\n5-4 rw-s 0 0 0 /home/w/store/x\n"
	if image, mapped := spans(strings.NewReader(garbage), "/usr/bin/locket", "/home/w/store/"); len(image)+len(mapped) != 0 {
		t.Errorf("of garbage: %x, %x", image, mapped)
	}
}

// Pages of a mapped file are released, and what was written to them stays.
func TestReleaseFiles(t *testing.T) {
	dir, err := os.MkdirTemp(".", "mapped-") // on a disk: files in memory can't be released
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.Abs(dir); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want := bytes.Repeat([]byte("0123456789abcdef"), 1<<18) // 4 MB
	if _, err := f.Write(want); err != nil {
		t.Fatal(err)
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, len(want), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(b)
	b[5], want[5] = 'x', 'x'
	if err := f.Sync(); err != nil { // otherwise dirty pages would be written first, whenever the system likes
		t.Fatal(err)
	}
	if !bytes.Equal(b, want) {
		t.Fatal("the file is not as it was written")
	}
	all := fileResident(t)
	release(dir)
	if have := fileResident(t); have > all-len(b)/1024/2 {
		t.Errorf("%d kB of %d are here still", have, all)
	}
	if !bytes.Equal(b, want) {
		t.Error("the file reads otherwise now")
	}
}

// After all of the program's file was touched, little of it is left in memory, and what is needed
// comes back.
func TestRelease(t *testing.T) {
	path, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	image, _ := spans(f, path, "")
	m, err := os.Open("/proc/self/mem")
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	size := 0
	before := sha256.New()
	read := func(to io.Writer) {
		size = 0
		for _, s := range image {
			n, err := io.Copy(to, io.NewSectionReader(m, int64(s.from), int64(s.to-s.from)))
			if err != nil {
				t.Fatal(err)
			}
			size += int(n)
		}
	}
	read(before)
	all := fileResident(t)
	if size == 0 || all < size/1024*9/10 {
		t.Fatalf("%d kB of %d are here after all was read", all, size/1024)
	}
	release("")
	// What the program itself runs has come back already: for a small program that is much.
	if have := fileResident(t); have >= all {
		t.Errorf("%d kB of %d are here still", have, all)
	}
	after := sha256.New()
	if read(after); !bytes.Equal(before.Sum(nil), after.Sum(nil)) {
		t.Error("the program's file reads otherwise now")
	}
}

func fileResident(t *testing.T) int {
	t.Helper()
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, "RssFile:"); ok {
			kb, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(v), "kB")))
			if err != nil {
				t.Fatal(err)
			}
			return kb
		}
	}
	t.Fatal("no RssFile")
	return 0
}
