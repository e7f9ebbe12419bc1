package e2e

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/freeport"
	"github.com/locket-dev/locket/internal/testing/speechtest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/extract/sound"
	"github.com/locket-dev/locket/node/intake/wear"
	"github.com/locket-dev/locket/node/intake/wire"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/wasm/plugins/speech/testdata/audio"
)

func dayFile(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "testdata", "day", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// engines returns the listed engines, by kind.
func (h *home) engines() map[string]serve.Engine {
	h.t.Helper()
	out := map[string]serve.Engine{}
	for line := range strings.Lines(h.must("--json", "engine", "list")) {
		var e serve.Engine
		mustParse(h.t, line, &e)
		out[e.Kind] = e
	}
	return out
}

// The first evening, without relay, worker or cloud. A pendant's sound is found by PocketSphinx's
// words, and a photo by the text that Tesseract reads. The daemon and the engine's process are
// killed meanwhile, and each recording has its words once.
func TestEnginesWithoutRelay(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	if out := h.must("engine", "add", "ears", "pocketsphinx"); !strings.Contains(out, "pocketsphinx en-us") || !strings.Contains(out, "sample:") {
		t.Errorf("%s", out)
	}
	d := h.start()
	c := h.addDevice("pendant")
	w := wearable(t, c.Broker, "pendant", c.Password)
	publish := func(m wire.Message) {
		t.Helper()
		r, err := w.Publish(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now().Add(-time.Hour)
	publish(&wire.Audio{Header: wire.Header{At: began}, Codec: "wav", Data: audio.Speech(), Last: true})
	// Killed while it hears, as far as a test can time that; the engine's process does not outlive
	// it.
	until(t, "an engine's process", func() bool { return len(children(t, d.cmd.Process.Pid)) > 0 || h.engines()["ears"].Done > 0 })
	left := children(t, d.cmd.Process.Pid)
	d.kill()
	for _, pid := range left {
		until(t, "the end of the engine's process", func() bool { return syscall.Kill(pid, 0) != nil || zombie(pid) })
	}
	d = h.start()
	h.eventually("the words", func(s string) bool { return strings.Contains(s, "country") && strings.Contains(s, "said") }, "search", "what your country can do for you")
	w.Close()
	w = wearable(t, d.broker, "pendant", c.Password)
	h.must("engine", "add", "eyes", "tesseract")
	publish(&wire.Photo{Header: wire.Header{At: began.Add(time.Minute)}, Codec: "png", Data: dayFile(t, "note.png")})
	h.eventually("the print", func(s string) bool { return strings.Contains(s, "BOOK SWAP") }, "search", "book swap in the courtyard")
	for _, pid := range children(t, d.cmd.Process.Pid) {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	publish(&wire.Audio{Header: wire.Header{At: began.Add(2 * time.Minute)}, Codec: "wav", Data: audio.Speech(), Last: true})
	lines := func() (n int) {
		for line := range strings.Lines(h.must("--json", "export")) {
			if strings.Contains(line, `"engine/transcribe"`) && strings.Contains(line, "country") && strings.Contains(line, `"utterance"`) {
				n++
			}
		}
		return n
	}
	until(t, "the words of the second recording", func() bool { return lines() >= 2 })
	if e := h.engines(); e["ears"].Parked != 0 || e["eyes"].Waiting != 0 || e["ears"].Sample == nil || e["ears"].Sample.Factor <= 0 {
		t.Errorf("%+v", e)
	}
	if n := lines(); n != 2 {
		t.Errorf("%d lines of 2 recordings", n)
	}
	if s := h.must("status"); !strings.Contains(s, "pocketsphinx en-us: nothing waits") || !strings.Contains(s, "0 to transcribe") {
		t.Errorf("%s", s)
	}
	if err := d.stop(t); err != nil {
		t.Errorf("%v\n%s", err, d.log)
	}
	runs, err := filepath.Glob(filepath.Join(h.dir, "engine-runs", "*", "run-*"))
	if err != nil || len(runs) > 0 {
		t.Errorf("left behind: %v, %v", runs, err)
	}
}

// children returns the engine processes that a process has started.
func children(t *testing.T, pid int) (out []int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range all {
		b, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		id, rest, ok := strings.Cut(string(b), " (")
		if !ok {
			continue
		}
		f := strings.Fields(rest[strings.LastIndex(rest, ")")+1:])
		line, err := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		if err == nil && len(f) > 1 && f[1] == strconv.Itoa(pid) && strings.Contains(string(line), "engine-worker") && f[0] != "Z" {
			n, err := strconv.Atoi(id)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, n)
		}
	}
	return out
}

func zombie(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || strings.Contains(string(b), ") Z ")
}

// While somebody speaks, the daemon is killed: before the engine has heard a second, in the middle,
// and while the words are on their way. Each recording has its words once. An utterance stays one,
// or becomes two if the daemon was away for so long that the device seemed gone.
func TestLiveTranscriptionSurvivesKills(t *testing.T) {
	t.Parallel()
	const utterances = 12 // 100 were run once
	ears := speechtest.Wyoming(t)
	h := newHome(t, "--listen", freeport.Addr(t))
	d := h.start()
	c := h.addDevice("pin")
	h.must("engine", "add", "ears", ears.Address)
	calls := len(ears.Calls()) // with the sample
	asked := make(chan bool, 1)
	var answers atomic.Int64
	ears.Says(func([]byte) string {
		select {
		case asked <- true:
		default:
		}
		return sentence(int(answers.Add(1)))
	}, nil)
	pcm, err := sound.WAV(audio.Speech())
	if err != nil {
		t.Fatal(err)
	}
	pin := wearable(t, d.broker, c.Name, c.Password)
	whole := make([]byte, 0, 2*len(pcm))
	for _, v := range pcm {
		whole = binary.LittleEndian.AppendUint16(whole, uint16(v))
	}
	const second = 2 * sound.Rate
	parts := slices.Collect(slices.Chunk(whole, second))
	heard := func() int { return len(ears.Calls()) }
	live, began := 0, time.Now().Add(-45*time.Second) // sound is live within a minute of its time; the first four need not be live
	for i := range utterances {
		stage := i % (len(parts) + 1) // after that many seconds; the last one: while its words are on their way
		select {
		case <-asked:
		default:
		}
		before := heard()
		var sent []*wear.Receipt
		for n, part := range parts {
			m := &wire.Audio{Header: wire.Header{At: began.Add(time.Duration(n) * time.Second)}, Codec: "pcm16", Rate: sound.Rate, Data: part, Last: n == len(parts)-1}
			r, err := pin.Publish(t.Context(), m)
			if err != nil {
				t.Fatal(err)
			}
			sent = append(sent, r)
			if n+1 == stage {
				if stage > 3 { // speech is found, and the engine hears
					until(t, "sound at the engine", func() bool { return heard() > before })
					live++
				}
				d.kill()
				d = h.start()
			}
		}
		if stage == len(parts) {
			select {
			case <-asked:
			case <-time.After(patience):
				t.Fatal("the engine is not asked")
			}
			d.kill()
			d = h.start()
		}
		for _, r := range sent {
			if err := r.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		until(t, fmt.Sprintf("the words of utterance %d, cut at %d", i, stage), func() bool {
			lines, recordings := h.heardLines()
			return recordings > i && lines == recordings && h.engines()["ears"].Waiting == 0
		})
		began = began.Add(12 * time.Second)
		if now := time.Now(); began.Before(now) {
			began = now // so that a busy machine has a full minute
		}
		until(t, "the time of the next utterance", func() bool { return time.Until(began) < 45*time.Second })
	}
	if live == 0 {
		t.Error("nothing was heard live")
	}
	t.Logf("%d utterances, %d of them cut off while they were heard, %d calls", utterances, live, heard()-calls)
}

// heardLines counts the utterances that engines transcribed, and the recordings that have their
// words.
func (h *home) heardLines() (lines, recordings int) {
	kept := map[memory.ID]bool{}
	for line := range strings.Lines(h.must("--json", "export")) {
		var r record
		mustParse(h.t, line, &r)
		switch r.Kind {
		case "utterance":
			lines++
		case "assertion":
			var a memory.Assertion
			mustParse(h.t, string(r.Data), &a)
			if a.Candidate != nil && slices.Contains(a.Candidate.Tags, "recording") {
				kept[a.Memory] = true
			}
		}
	}
	return lines, len(kept)
}
