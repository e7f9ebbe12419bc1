package e2e

import (
	"bufio"
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/locket-dev/locket/crypto/keyring"
)

// A dump of a locked daemon contains no key, and nothing of what was said. A dump of an unlocked
// daemon contains them, which shows that the search works. It covers all memory in a dump, read
// through the kernel, and also what a dump leaves out (pages of files, guard pages).
func TestDumpAfterLock(t *testing.T) {
	h := &home{t: t, dir: filepath.Join(t.TempDir(), "home")}
	h.configure()
	const passphrase = "correct-horse-battery-staple"
	pass := filepath.Join(t.TempDir(), "pass")
	if err := os.WriteFile(pass, []byte(passphrase+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.must("init", "--passphrase-file", pass, "--no-check")
	// It starts unlocked, and could unlock itself again.
	d := h.start("--dumps", "--set", "unlock.passphrase_file="+pass)
	pid := d.cmd.Process.Pid
	h.must("add", "--speaker", "Ana", "I live in Lisbon with quokkazebra now.")
	h.must("add", "--speaker", "Ana", "The Wi-Fi password is maple-TREE-9921.")
	h.must("unlock", "--vault", "--passphrase-file", pass)
	h.eventually("an answer", func(s string) bool { return strings.Contains(s, "Lisbon") }, "search", "where does Ana live")

	needles := secretsOf(t, filepath.Join(h.dir, "keys"), filepath.Join(h.dir, "store", "records"), passphrase)
	found := memoryHolds(t, pid, needles)
	for name := range needles {
		// The library that takes the passphrase keeps it only for a moment, and the anchor's key is
		// used on closing.
		if !found[name] && name != "passphrase" {
			t.Errorf("open, and its memory does not hold %s: the search finds nothing", name)
		}
	}
	needles["what was said"] = []byte("quokkazebra")
	if !memoryHolds(t, pid, needles)["what was said"] {
		t.Error("open, and its memory does not hold what was said")
	}

	c := h.addDevice("pin") // while it is unlocked: a locked node does not let anybody in
	h.must("lock")
	for name := range memoryHolds(t, pid, needles) {
		t.Errorf("locked, and its memory holds %s", name)
	}
	if _, errs, code := h.try("search", "where does Ana live"); code == 0 || !strings.Contains(errs, "locked") {
		t.Errorf("a locked node answers: %d, %s", code, errs)
	}

	// The same process continues: it accepts events where it did, and unlocks again.
	pin := wearable(t, d.broker, c.Name, c.Password)
	acknowledged(t, say(t, pin, "Ana", "My sister is Clara."))
	h.must("unlock", "--passphrase-file", pass)
	h.eventually("what was taken while locked", func(s string) bool { return strings.Contains(s, "Clara") }, "search", "who is Ana's sister")
	if found := memoryHolds(t, pid, needles); !found["the store's key of values"] {
		t.Error("open again, and its memory holds no key: the search finds nothing")
	}
	h.must("lock") // what starts afresh
	for name := range memoryHolds(t, pid, needles) {
		t.Errorf("locked again, and its memory holds %s", name)
	}
	if err := d.stop(t); err != nil {
		t.Errorf("stop: %v", err)
	}
}

// Without --dumps the system writes none.
func TestNoDumps(t *testing.T) {
	h := newHome(t)
	d := h.start()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", d.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); strings.HasPrefix(line, "Max core file size") && (len(f) < 5 || f[4] != "0") {
			t.Errorf("%s", line)
		}
	}
	d.cmd.Process.Signal(syscall.SIGQUIT)
	<-d.done
	var exit interface{ Sys() any }
	if !errors.As(d.err, &exit) {
		t.Fatalf("ended with %v", d.err)
	}
	if s := exit.Sys().(syscall.WaitStatus); s.CoreDump() {
		t.Error("a core dump was written")
	}
}

// secretsOf returns a home's keys, in the form in which they would be in memory.
func secretsOf(t *testing.T, keys, records, passphrase string) map[string][]byte {
	t.Helper()
	public, err := keyring.Open(keys)
	if err != nil {
		t.Fatal(err)
	}
	ring, err := public.Unlock(t.Context(), keyring.Passphrase(passphrase))
	if err != nil {
		t.Fatal(err)
	}
	defer ring.Close()
	epoch, ok := ring.Epoch(ring.Space(), 1)
	if !ok {
		t.Fatal("no key of the first epoch")
	}
	master := ring.StoreKey()
	disk := master.Derive("store badger").Bytes()
	out := map[string][]byte{
		"passphrase":                    []byte(passphrase),
		"the master key":                master.Bytes(),
		"the store's key of values":     master.Derive("store values").Bytes(),
		"the store's key of MACs":       master.Derive("store macs").Bytes(),
		"the store's key of the anchor": master.Derive("store anchor").Bytes(),
		"the database's key":            disk,
		"the journal's identity":        ring.JournalIdentity().Seed().Bytes(),
		"the device's identity":         ring.DeviceIdentity().Seed().Bytes(),
		"the epoch's key":               epoch.Bytes(),
		"the key of ids":                ring.IDKey().Bytes(),
	}
	for i, k := range dataKeys(t, filepath.Join(records, "KEYREGISTRY"), disk) {
		out[fmt.Sprintf("the database's data key %d", i+1)] = k
	}
	return out
}

// dataKeys reads Badger's registry of keys: an IV and a text under it, then for each key its length
// and checksum, 4 bytes each, and a protobuf message in which field 2 is the key, sealed by AES-CTR
// under the disk's key and the IV in field 3.
func dataKeys(t *testing.T, path string, disk []byte) (out [][]byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	block, err := aes.NewCipher(disk)
	if err != nil {
		t.Fatal(err)
	}
	for b = b[aes.BlockSize+len("Hello Badger"):]; len(b) >= 8; {
		n := binary.BigEndian.Uint32(b)
		message := b[8 : 8+n]
		b = b[8+n:]
		fields := map[protowire.Number][]byte{}
		for len(message) > 0 {
			num, typ, k := protowire.ConsumeTag(message)
			if k < 0 {
				t.Fatal(protowire.ParseError(k))
			}
			v := message[k:]
			if k = protowire.ConsumeFieldValue(num, typ, v); k < 0 {
				t.Fatal(protowire.ParseError(k))
			}
			if typ == protowire.BytesType {
				fields[num], _ = protowire.ConsumeBytes(v)
			}
			message = v[k:]
		}
		key := make([]byte, len(fields[2]))
		cipher.NewCTR(block, fields[3]).XORKeyStream(key, fields[2])
		out = append(out, key)
	}
	if len(out) == 0 {
		t.Fatal("the database has no key")
	}
	return out
}

// memoryHolds returns which needles are in a process's memory, unchanged or as text: base64,
// hexadecimal.
func memoryHolds(t *testing.T, pid int, needles map[string][]byte) map[string]bool {
	t.Helper()
	maps, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		t.Fatal(err)
	}
	defer maps.Close()
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	found, read := map[string]bool{}, 0
	look := func(b []byte) {
		for name, n := range needles {
			text := base64.StdEncoding.EncodeToString(n)
			text = strings.TrimRight(text, "=")
			if !found[name] && (bytes.Contains(b, n) || bytes.Contains(b, []byte(text[:len(text)-1])) || bytes.Contains(b, []byte(hex.EncodeToString(n)))) {
				found[name] = true
			}
		}
	}
	const overlap = 128 // longer than any needle
	buf := make([]byte, 1<<20)
	for s := bufio.NewScanner(maps); s.Scan(); {
		var first, last uint64
		var rights string
		if _, err := fmt.Sscanf(s.Text(), "%x-%x %s", &first, &last, &rights); err != nil {
			t.Fatalf("%q: %v", s.Text(), err)
		}
		if rights[0] != 'r' || last > math.MaxInt64 {
			continue
		}
		for at, to := int64(first), int64(last); at < to; at += int64(len(buf)) - overlap {
			n, err := mem.ReadAt(buf[:min(int64(len(buf)), to-at)], at)
			if err != nil && n == 0 { // the kernel's own pages, or gone by now
				break
			}
			read += n
			look(buf[:n])
		}
	}
	if read < 10<<20 {
		t.Fatalf("only %d bytes of memory could be read", read)
	}
	return found
}
