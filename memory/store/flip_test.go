package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
)

const (
	logHeader      = 20 // bytes of a log's header
	manifestHeader = 8  // bytes of the table list's header
)

const flipDir = "LOCKET_STORE_FLIP_DIR"

// flip is a byte to change in a file under records/.
type flip struct {
	name string
	at   int
	mask byte
}

func (f flip) String() string { return fmt.Sprintf("%s %d %02x", f.name, f.at, f.mask) }

// TestFlippedFiles changes one byte of a file at a time, in another process, because Badger ends
// the process on many of these changes if it opens the files.
func TestFlippedFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	flips := flipsOf(t, filepath.Join(dir, recordsName), crashed(t, dir))
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), flipDir+"="+dir)
	var in, out, stderr bytes.Buffer
	for _, f := range flips {
		fmt.Fprintln(&in, f)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &in, &out, &stderr
	err := cmd.Run()
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if err != nil || len(lines) != len(flips) {
		t.Fatalf("%v after %d of %d flips, at %v: %s", err, len(lines), len(flips), flips[min(len(lines)-1, len(flips)-1)], stderr.String())
	}
	seen := map[string]int{}
	for i, f := range flips {
		result := lines[i]
		seen[filepath.Ext(f.name)+" "+strings.Fields(result)[0]]++
		switch filepath.Ext(f.name) {
		case ".sst":
			if !strings.HasPrefix(result, "damage table file "+f.name) {
				t.Errorf("%v: %s, want a table file's damage", f, result)
			}
		case ".vlog":
			if f.at >= logHeader && !strings.HasPrefix(result, "damage") && result != "opened 0" {
				t.Errorf("%v: %s", f, result)
			}
		case ".mem":
			if f.at < logHeader && !strings.HasPrefix(result, "damage log file "+f.name) {
				t.Errorf("%v: %s, want a log file's damage", f, result)
			}
		case "":
			if f.name == "DISCARD" && result != "opened 0" ||
				f.name == "MANIFEST" && !strings.HasPrefix(result, "damage table list MANIFEST") ||
				f.name == "KEYREGISTRY" && !strings.HasPrefix(result, "damage key file KEYREGISTRY") && !strings.HasPrefix(result, "locked") {
				t.Errorf("%v: %s", f, result)
			}
		}
	}
	t.Log(len(flips), "flips:", seen)
	if seen[".sst damage"] == 0 || seen[".mem damage"] == 0 || seen[" damage"] == 0 || seen[".vlog opened"] == 0 {
		t.Errorf("a kind of file is missing: %v", seen)
	}
}

// TestTableListClaimsTooManyBytes: if an entry of the table list claims more bytes than there are, Badger
// takes it for one that a crash cut short, and then deletes the tables that it names. A list that
// was really cut short can be opened.
func TestTableListClaimsTooManyBytes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	crashed(t, dir)
	path := filepath.Join(dir, recordsName, "MANIFEST")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p := bytes.Clone(whole)
	binary.BigEndian.PutUint32(p[manifestHeader:], uint32(len(p))) // the most that Badger accepts
	if err := os.WriteFile(path, p, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(testOptions(dir)); !errors.Is(err, memory.ErrDamaged) || !strings.Contains(err.Error(), "table list MANIFEST") {
		t.Errorf("%v, want damage of the table list", err)
	}
	if tables, err := filepath.Glob(filepath.Join(dir, recordsName, "*.sst")); err != nil || len(tables) < 3 {
		t.Errorf("%d tables are left, %v", len(tables), err)
	}
	cut := append(bytes.Clone(whole), whole[manifestHeader:manifestHeader+10]...)
	if err := os.WriteFile(path, cut, 0o600); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
}

// crashed makes a store with three tables and a log in dir, as a killed process leaves it, and
// returns where the log's entries end.
func crashed(t *testing.T, dir string) (logEnd int) {
	t.Helper()
	live := t.TempDir()
	for session := range 4 {
		s, err := Open(testOptions(live))
		if err != nil {
			t.Fatal(err)
		}
		for n := range 6 {
			update(t, s, func(tx *Tx) error {
				dot, err := tx.NextDot(me)
				if err != nil {
					return err
				}
				_, err = tx.Assert(fact(int(dot.Seq), me, dot.Seq, strings.Repeat("words ", 80)+strconv.Itoa(n)))
				return err
			})
		}
		if session == 3 {
			m, err := readImage(live)
			if err = errors.Join(err, m.write(dir)); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	logs, err := filepath.Glob(filepath.Join(dir, recordsName, "*.mem"))
	if err != nil || len(logs) != 1 {
		t.Fatal(logs, err)
	}
	p, err := os.ReadFile(logs[0])
	if err != nil {
		t.Fatal(err)
	}
	return len(bytes.TrimRight(p, "\x00"))
}

// image has a store's files by path; zeros at the end of a file are left out.
type image map[string]imageFile

type imageFile struct {
	bytes []byte
	size  int64
}

func readImage(dir string) (image, error) {
	m := image{}
	for _, sub := range []string{"", recordsName, spareName} {
		list, err := os.ReadDir(filepath.Join(dir, sub))
		if err != nil {
			return nil, err
		}
		for _, e := range list {
			if !e.Type().IsRegular() {
				continue
			}
			p, err := os.ReadFile(filepath.Join(dir, sub, e.Name()))
			if err != nil {
				return nil, err
			}
			m[filepath.Join(sub, e.Name())] = imageFile{bytes.Clone(bytes.TrimRight(p, "\x00")), int64(len(p))}
		}
	}
	return m, nil
}

func (m image) write(dir string) error {
	for _, sub := range []string{recordsName, spareName} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return err
		}
	}
	for name, f := range m {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, f.bytes, 0o600), os.Truncate(path, f.size)); err != nil {
			return err
		}
	}
	return nil
}

// flipsOf chooses bytes: of tables the whole footer and samples of the rest, of the smallest files
// each byte, of logs the header and some of the entries.
func flipsOf(t *testing.T, dir string, logEnd int) (flips []flip) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	masks := []byte{0x01, 0x80, 0xff}
	tables := 0
	for _, e := range list {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		all := func(from, to int) {
			for at := from; at < to; at++ {
				for _, m := range masks {
					flips = append(flips, flip{e.Name(), at, m})
				}
			}
		}
		some := func(from, to, count int) {
			for n := range count {
				flips = append(flips, flip{e.Name(), from + n*(to-from)/count, masks[n%len(masks)]})
			}
		}
		size := int(info.Size())
		switch filepath.Ext(e.Name()) {
		case ".sst":
			tables++
			some(0, size-400, 40)
			some(size-400, size-20, 60)
			all(size-20, size)
		case ".mem":
			all(0, logHeader)
			some(logHeader, logEnd, 60)
		case ".vlog":
			some(0, min(size, 40), 10)
		default:
			some(0, min(size, 300), 30)
			if e.Name() != "DISCARD" {
				all(0, min(size, 36))
			}
		}
	}
	if tables < 3 {
		t.Fatalf("%d tables", tables)
	}
	return flips
}

// openFlipped opens a copy of the store in dir for each flip that it reads, and prints a line with
// the result.
func openFlipped(dir string, in io.Reader) error {
	work, err := os.MkdirTemp("", "locket-flip")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	files, err := readImage(dir)
	if err != nil {
		return err
	}
	for {
		var f flip
		if _, err := fmt.Fscanf(in, "%s %d %x\n", &f.name, &f.at, &f.mask); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		result, err := openWith(files, work, f)
		if err != nil {
			return fmt.Errorf("%v: %w", f, err)
		}
		fmt.Println(result)
	}
}

func openWith(files image, work string, f flip) (result string, err error) {
	if err := os.RemoveAll(work); err != nil {
		return "", err
	}
	if err := files.write(work); err != nil {
		return "", err
	}
	file, err := os.OpenFile(filepath.Join(work, recordsName, f.name), os.O_RDWR, 0)
	if err != nil {
		return "", err
	}
	b := make([]byte, 1)
	_, err = file.ReadAt(b, int64(f.at))
	b[0] ^= f.mask
	if err == nil {
		_, err = file.WriteAt(b, int64(f.at))
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return "", err
	}
	before, err := filepath.Glob(filepath.Join(work, recordsName, "*.sst"))
	if err != nil {
		return "", err
	}
	s, err := Open(testOptions(work))
	if d := new(Damage); errors.As(err, &d) {
		for _, table := range before {
			if _, err := os.Stat(table); err != nil {
				return "", fmt.Errorf("damage was found, and a table was deleted: %w", err)
			}
		}
		return "damage " + d.Kind + " " + d.Key + " " + d.What, nil
	}
	if errors.Is(err, memory.ErrLocked) {
		return "locked", nil
	}
	if err != nil {
		return "refused " + strings.ReplaceAll(err.Error(), "\n", " "), nil
	}
	found, err := s.Verify(context.Background())
	if err = errors.Join(err, s.Close()); err != nil {
		return "", err
	}
	return fmt.Sprint("opened ", len(found)), nil
}
