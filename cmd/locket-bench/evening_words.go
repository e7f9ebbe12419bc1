package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/locket-dev/locket/node/intake/wear"
	"github.com/locket-dev/locket/node/intake/wire"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/wasm/plugins/speech/testdata/audio"
)

// wearable adds the wearable that the suite publishes as.
func (b *eveningBench) wearable(ctx context.Context, d *daemon) (*wear.Client, error) {
	c, err := d.client.AddDevice(ctx, "pendant")
	if err != nil {
		return nil, err
	}
	return wear.Dial(wear.Config{URL: c.Broker, Device: c.Name, Password: string(c.Password), Boot: 1, Window: 16,
		Hello: wire.Hello{Model: "bench", Firmware: "1", Codecs: []string{"wav"}}})
}

// send publishes a message and waits for its acknowledgement.
func send(ctx context.Context, w *wear.Client, m wire.Message) error {
	r, err := w.Publish(ctx, m)
	if err != nil {
		return err
	}
	return r.Wait(ctx)
}

// whisperServer is a server of whisper.cpp's protocol that answers at once, with words that were
// never said before.
type whisperServer struct {
	url  string
	said chan string // the unique word of each answer
	stop func() error
}

func openWhisper() (*whisperServer, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	e := &whisperServer{url: "http://" + ln.Addr().String(), said: make(chan string, 1000)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /inference", func(w http.ResponseWriter, r *http.Request) {
		f, _, err := r.FormFile("file")
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if _, err := io.Copy(io.Discard, f); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		odd := ""
		for range 10 {
			odd += string(rune('a' + rand.IntN(26)))
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]any{"text": "The gardener put the " + odd + " beside the gate.", "language": "en"})
		e.said <- odd
	})
	server := &http.Server{Handler: mux}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ln) }()
	e.stop = func() error {
		err := server.Close()
		if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, served)
		}
		return err
	}
	return e, nil
}

// words measures the time from the end of an utterance until its line is found.
func (b *eveningBench) words(ctx context.Context) (err error) {
	home, err := b.home(ctx, "words")
	if err != nil {
		return err
	}
	d, err := b.start(ctx, home)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	e, err := openWhisper()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.stop()) }()
	if _, err := d.client.AddEngine(ctx, serve.AddEngineRequest{Kind: "ears", Address: e.url}); err != nil {
		return err
	}
	for len(e.said) > 0 { // from the trial
		<-e.said
	}
	w, err := b.wearable(ctx, d)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	wav := audio.Speech()
	var took []float64
	from := time.Now().Add(-time.Duration(b.said+1) * time.Minute)
	for i := range b.said {
		if err := send(ctx, w, &wire.Audio{Header: wire.Header{At: from.Add(time.Duration(i) * time.Minute), Zone: "UTC"}, Codec: "wav", Data: wav, Last: true}); err != nil {
			return err
		}
		began := time.Now()
		wait, cancel := context.WithTimeout(ctx, time.Minute)
		odd, err := "", error(nil)
		select {
		case odd = <-e.said:
			err = found(wait, d, odd)
		case <-wait.Done():
			err = fmt.Errorf("recording %d of %d: the engine was not asked", i+1, b.said)
		}
		cancel()
		if err != nil {
			return err
		}
		took = append(took, time.Since(began).Seconds())
	}
	note := "from the last part's acknowledgement, 11 s of sound each; the engine answers at once"
	return b.tell(
		b.result("speech_end_to_found_p50", b.said, percentile(took, 50), "s", note),
		b.result("speech_end_to_found_p95", b.said, percentile(took, 95), "s", note))
}

// found waits until a search finds a word.
func found(ctx context.Context, d *daemon, word string) error {
	for {
		r, err := d.client.Search(ctx, serve.SearchRequest{Query: word, K: 1, Only: serve.OnlyUtterances})
		if err != nil {
			return err
		}
		if len(r.Hits) > 0 && r.Hits[0].Utterance != nil && strings.Contains(r.Hits[0].Utterance.Text, word) {
			return nil
		}
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return fmt.Errorf("%q was not found", word)
		}
	}
}

// bytesWritten compares the bytes that a daemon writes for each line with those of bare Badger for
// the same lines.
func (b *eveningBench) bytesWritten(ctx context.Context) (err error) {
	lines, err := talk(b.events)
	if err != nil {
		return err
	}
	home, err := b.home(ctx, "bytes")
	if err != nil {
		return err
	}
	d, err := b.start(ctx, home)
	if err != nil {
		return err
	}
	stopped := false
	defer func() {
		if !stopped {
			err = errors.Join(err, d.stop())
		}
	}()
	w, err := b.wearable(ctx, d)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	before, err := writtenBy(d.pid())
	if err != nil {
		return err
	}
	for _, m := range lines {
		if err := send(ctx, w, m); err != nil {
			return err
		}
	}
	for {
		s, err := d.client.Status(ctx)
		if err != nil {
			return err
		}
		if s.Journal.Waiting == 0 {
			break
		}
		if err := pause(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
	after, err := writtenBy(d.pid())
	if err != nil {
		return err
	}
	bare, err := b.bareBytes(ctx, lines)
	if err != nil {
		return err
	}
	n := float64(len(lines))
	r := b.result("disk_bytes_per_event", len(lines), (after-before)/n, "B", "what the kernel was told to write, /proc/PID/io; one at a time, each acknowledged and worked through")
	return b.tell(r.beside("badger", bare/n, false))
}

// bareBytes measures the bytes that Badger writes for the same lines, one synced transaction each,
// in this process.
func (b *eveningBench) bareBytes(ctx context.Context, lines []wire.Message) (_ float64, err error) {
	db, err := badger.Open(badger.DefaultOptions(filepath.Join(b.homes, "badger")).WithSyncWrites(true).WithLogger(nil))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	before, err := writtenBy("self")
	if err != nil {
		return 0, err
	}
	for i, m := range lines {
		err := db.Update(func(tx *badger.Txn) error {
			value, err := json.Marshal(m)
			if err != nil {
				return err
			}
			return tx.Set(fmt.Appendf(nil, "line %08d", i), value)
		})
		if err != nil {
			return 0, err
		}
	}
	after, err := writtenBy("self")
	return after - before, err
}

// writtenBy returns the bytes that a process has written, without those that were removed before
// they reached the disk.
func writtenBy(pid string) (n float64, err error) {
	b, err := os.ReadFile("/proc/" + pid + "/io")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		v, _ := strconv.ParseFloat(value, 64)
		switch name {
		case "write_bytes":
			n += v
		case "cancelled_write_bytes":
			n -= v
		}
	}
	return n, nil
}
