package e2e

import (
	"context"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/freeport"
	"github.com/locket-dev/locket/internal/testing/long"
	"github.com/locket-dev/locket/node/intake/wear"
)

// Whatever the node acknowledged to the device is there after any number of kills while events come
// in: as an utterance, once. KILLS sets the number of kills.
func TestAcknowledgedEventsSurviveSIGKILL(t *testing.T) {
	t.Parallel()
	kills := long.Kills(t, 50)
	h := newHome(t, "--listen", freeport.Addr(t))
	d := h.start()
	c := h.addDevice("pin")
	pin := wearable(t, d.broker, c.Name, c.Password)

	quiet := talking(t, pin, time.Millisecond)
	r := rand.New(rand.NewPCG(1, 2))
	waited := map[int]*wear.Receipt{} // by sentence: each one was acknowledged just before a kill
	for k := range kills {
		if k%4 == 3 { // on a slow machine this never happens by chance
			waited[kills*1000+k] = say(t, pin, "Ana", sentence(kills*1000+k))
			acknowledged(t, waited[kills*1000+k])
		}
		wait(time.Duration(r.IntN(120)) * time.Millisecond)
		d.kill()
		var err error
		if d, err = h.tryStart(); err != nil {
			t.Fatalf("start after kill %d: %v", k+1, err)
		}
		if (k+1)%100 == 0 { // so that a stopped run shows how far it came
			t.Logf("%d kills", k+1)
		}
	}
	rs := quiet()
	acknowledged(t, rs...)
	all := maps.Clone(waited)
	for i, r := range rs {
		all[i] = r
	}
	var missing int
	until(t, "every acknowledged event is worked through", func() bool {
		have := h.utterances()
		missing = 0
		for i, r := range all {
			if have[r.ID] != sentence(i) {
				missing++
			}
		}
		return missing == 0 && len(have) == len(all)
	})
	t.Logf("%d events acknowledged over %d kills, all there", len(all), kills)
	if out := h.must("doctor", "--verify"); !strings.Contains(out, "every record") {
		t.Errorf("doctor --verify: %s", out)
	}
}

// Below the reserve, events are refused and not acknowledged. They come in once there is space
// again.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=200m"); err != nil {
		t.Fatalf("a small file system is needed for this test, which takes root: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	h := &home{t: t, dir: dir + "/home"}
	h.configure()
	h.must("init", "--key-file", "--no-check")
	d := h.start()
	c := h.addDevice("pin")
	pin := wearable(t, d.broker, c.Name, c.Password)
	acknowledged(t, say(t, pin, "Ana", sentence(0)))
	until(t, "the plugins are compiled, which takes room", func() bool { return len(h.utterances()) == 1 })

	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		t.Fatal(err)
	}
	ballast := dir + "/ballast"
	if err := os.WriteFile(ballast, make([]byte, int(fs.Bavail)*int(fs.Bsize)-(20<<20)), 0o600); err != nil {
		t.Fatal(err)
	}
	late := say(t, pin, "Ana", sentence(1))
	short, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if err := late.Wait(short); err == nil {
		t.Error("acknowledged although the disk is at its reserve")
	}
	if out, _, _ := h.try("doctor"); !strings.Contains(out, "reserve") {
		t.Errorf("doctor says nothing of the disk: %s", out)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	acknowledged(t, late)
	until(t, "both sentences", func() bool { return len(h.utterances()) == 2 })
}

// A node that was killed starts on a completely full disk: it answers, says that the disk is full,
// and acknowledges nothing until there is room again.
func TestKilledOnAFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=200m"); err != nil {
		t.Fatalf("a small file system is needed for this test, which takes root: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	h := &home{t: t, dir: dir + "/home", run: []string{"--listen", freeport.Addr(t)}}
	h.configure()
	h.must("init", "--key-file", "--no-check")
	d := h.start()
	c := h.addDevice("pin")
	pin := wearable(t, d.broker, c.Name, c.Password)
	acknowledged(t, say(t, pin, "Ana", sentence(0)))
	until(t, "the plugins are compiled, which takes room", func() bool { return len(h.utterances()) == 1 })
	d.kill()

	f, err := os.Create(dir + "/ballast")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(f, zeros{}); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	d = h.start()
	if !strings.Contains(d.log.String(), "the disk is full") {
		t.Errorf("the log says nothing of the disk:\n%s", d.log)
	}
	if out, _, _ := h.try("doctor"); !strings.Contains(out, "free some space") {
		t.Errorf("doctor says nothing of the disk: %s", out)
	}
	if out := h.must("search", "lighthouse keeper"); !strings.Contains(out, sentence(0)) {
		t.Errorf("found: %s", out)
	}
	late := say(t, pin, "Ana", sentence(1))
	short, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if err := late.Wait(short); err == nil {
		t.Error("acknowledged although the disk is full")
	}
	if _, _, code := h.try("add", sentence(2)); code == 0 {
		t.Error("added although the disk is full")
	}
	if err := os.Remove(f.Name()); err != nil {
		t.Fatal(err)
	}
	acknowledged(t, late)
	until(t, "both sentences", func() bool { return len(h.utterances()) == 2 })
	if err := d.stop(t); err != nil {
		t.Error(err)
	}
	if out := h.must("doctor", "--verify"); !strings.Contains(out, "every record") {
		t.Errorf("doctor --verify: %s", out)
	}
}
