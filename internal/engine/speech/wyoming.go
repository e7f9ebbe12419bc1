package speech

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/locket-dev/locket/internal/cutoff"
	"github.com/locket-dev/locket/internal/dialfault"
	"github.com/locket-dev/locket/internal/engine"
)

// Wyoming asks a server that speaks the Wyoming protocol (OHF-Voice/wyoming),
// as Home Assistant's speech servers do: faster-whisper, and others.
type Wyoming struct {
	Address string        // host:port, or a path for a Unix socket
	Model   string        // empty: the server's
	Timeout time.Duration // timeout of the whole exchange; 0: 5 min
}

const wyoming = "wyoming"

// Name returns "wyoming" and the model, if one is set.
func (w *Wyoming) Name() string {
	if w.Model == "" {
		return wyoming
	}
	return wyoming + " " + w.Model
}

// Limits on what a server may send in one event.
const (
	maxWyomingLine = 64 << 10 // bytes of the JSON line
	maxWyomingData = 1 << 20  // bytes of data and of payload, each
)

// chunk is how much sound is sent at a time, as in wyoming's own client: 1,024 samples.
const chunk = 2048

// wyomingEvent is one event of the protocol, without its payload.
type wyomingEvent struct {
	Type          string          `json:"type"`
	Version       string          `json:"version,omitempty"`
	Data          json.RawMessage `json:"data,omitempty"`
	DataLength    int64           `json:"data_length,omitempty"`
	PayloadLength int64           `json:"payload_length,omitempty"`
}

// Transcribe sends the recording on a separate connection.
func (w *Wyoming) Transcribe(ctx context.Context, wav []byte, hint Hints) (Transcript, error) {
	sound, err := pcm(wyoming, wav)
	if err != nil {
		return Transcript{}, err
	}
	t, _, err := w.exchange(ctx, func(yield func([]byte) bool) { yield(sound) }, hint, nil)
	return t, err
}

// Listen sends sound while it comes, on a separate connection: parts of 16 bit PCM, 16 kHz, one
// channel, until the sequence ends. partial, if it is not nil, is called with the words so far each
// time the server sends some; servers of protocol 1.7 and newer may. To give up, end ctx: the
// server is then not told that the sound is over.
func (w *Wyoming) Listen(ctx context.Context, sound iter.Seq[[]byte], hint Hints, partial func(text string)) (Transcript, error) {
	t, whole, err := w.exchange(ctx, sound, hint, partial)
	if err == nil && !whole {
		return Transcript{}, engine.Faultf(wyoming, engine.Babbled, "a transcript before the sound had ended")
	}
	return t, err
}

// exchange sends sound and reads the answer. whole is false for a transcript that came before the
// end of the sound was sent.
func (w *Wyoming) exchange(ctx context.Context, sound iter.Seq[[]byte], hint Hints, partial func(string)) (t Transcript, whole bool, err error) {
	limit := w.Timeout
	if limit <= 0 {
		limit = 5 * time.Minute
	}
	run, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	network := "tcp"
	if _, _, err := net.SplitHostPort(w.Address); err != nil {
		network = "unix"
	}
	conn, err := cutoff.Dial(run, network, w.Address)
	if err != nil {
		return Transcript{}, false, broke(ctx, run, limit, err)
	}
	defer conn.Close()
	stop := context.AfterFunc(run, func() { conn.Close() })
	defer stop()

	// A server that refuses stops reading and says why: read that to the end, whatever happens to
	// the sending.
	heard, answered := context.WithCancel(run)
	var stopped atomic.Bool
	sent := make(chan error, 1)
	go func() { sent <- w.send(heard, conn, sound, hint, &stopped) }()
	t, err = readTranscript(bufio.NewReaderSize(conn, maxWyomingLine), partial)
	whole = stopped.Load()
	answered()
	if err == nil && whole {
		cutoff.Gently(conn) // the server may still have something to say
	}
	conn.Close()
	if sendErr := <-sent; err != nil && sendErr != nil && !errors.As(err, new(*engine.Fault)) {
		err = sendErr
	}
	if err != nil {
		return Transcript{}, false, broke(ctx, run, limit, err)
	}
	t, err = checked(wyoming, t)
	return t, whole, err
}

func broke(ctx, run context.Context, limit time.Duration, err error) error {
	var f *engine.Fault
	switch {
	case errors.As(err, &f):
		return f
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(run.Err(), context.DeadlineExceeded):
		return engine.Faultf(wyoming, engine.Slow, "no transcript within %s", limit)
	}
	return engine.Faultf(wyoming, engine.Gone, "%s", dialfault.Words(err))
}

// send writes the events of one recording. Data is put into the line, which servers of every
// version read. It sets stopped before the last event. If ctx has ended, it does not send that one.
func (w *Wyoming) send(ctx context.Context, conn net.Conn, sound iter.Seq[[]byte], hint Hints, stopped *atomic.Bool) error {
	out := bufio.NewWriter(conn)
	write := func(kind string, data any, payload []byte) error {
		raw, err := json.Marshal(data)
		if err != nil {
			return err
		}
		line, err := json.Marshal(wyomingEvent{Type: kind, Version: "1.5.2", Data: raw, PayloadLength: int64(len(payload))})
		if err != nil {
			return err
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return err
		}
		_, err = out.Write(payload)
		return err
	}
	type transcribe struct {
		Name     string `json:"name,omitempty"`
		Language string `json:"language,omitempty"`
	}
	type audio struct {
		Rate      int   `json:"rate"`
		Width     int   `json:"width"`
		Channels  int   `json:"channels"`
		Timestamp int64 `json:"timestamp"` // ms
	}
	at := func(byte int) int64 { return int64(byte/2) * 1000 / Rate }
	if err := write("transcribe", transcribe{w.Model, primary(hint.Lang)}, nil); err != nil {
		return err
	}
	if err := write("audio-start", audio{Rate, 2, 1, 0}, nil); err != nil {
		return err
	}
	sum := 0
	for part := range sound {
		for i := 0; i < len(part); i += chunk {
			b := part[i:min(i+chunk, len(part))]
			if err := write("audio-chunk", audio{Rate, 2, 1, at(sum)}, b); err != nil {
				return err
			}
			sum += len(b)
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := write("audio-stop", map[string]int64{"timestamp": at(sum)}, nil); err != nil {
		return err
	}
	stopped.Store(true)
	return out.Flush()
}

// readTranscript reads events until the transcript. A streaming server sends it in pieces, and then complete.
func readTranscript(in *bufio.Reader, partial func(string)) (Transcript, error) {
	soFar := ""
	for {
		ev, err := readWyoming(in)
		if err != nil {
			return Transcript{}, err
		}
		var data struct {
			Text     *string `json:"text"`
			Language string  `json:"language"`
			Code     string  `json:"code"`
		}
		if ev.Type != "transcript" && ev.Type != "error" && (ev.Type != "transcript-chunk" || partial == nil) {
			continue
		}
		if err := json.Unmarshal(ev.Data, &data); err != nil {
			return Transcript{}, engine.Faultf(wyoming, engine.Babbled, "%s: %v", ev.Type, err)
		}
		switch {
		case ev.Type == "error" && data.Text != nil:
			return Transcript{}, engine.Faultf(wyoming, engine.Crashed, "%s %s", data.Code, *data.Text)
		case ev.Type == "error":
			return Transcript{}, engine.Faultf(wyoming, engine.Crashed, "it reports an error without words")
		case data.Text == nil:
			return Transcript{}, engine.Faultf(wyoming, engine.Babbled, "a %s without text", ev.Type)
		case ev.Type == "transcript-chunk":
			if soFar += *data.Text; len(soFar) > MaxText {
				return Transcript{}, engine.Faultf(wyoming, engine.Babbled, "a transcript of more than %d bytes", MaxText)
			}
			partial(strings.TrimSpace(strings.ToValidUTF8(soFar, "")))
			continue
		}
		return Transcript{Text: *data.Text, Lang: data.Language}, nil
	}
}

// readWyoming reads one event: a JSON line, then data_length bytes of JSON that override the line's
// data, then a payload, which is skipped.
func readWyoming(in *bufio.Reader) (*wyomingEvent, error) {
	line, err := in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return nil, engine.Faultf(wyoming, engine.Babbled, "a line of more than %d bytes", maxWyomingLine)
	}
	if err != nil {
		return nil, err
	}
	var ev wyomingEvent
	if err := json.Unmarshal(line, &ev); err != nil {
		return nil, engine.Faultf(wyoming, engine.Babbled, "not a line of JSON: %v", err)
	}
	if ev.DataLength < 0 || ev.DataLength > maxWyomingData || ev.PayloadLength < 0 || ev.PayloadLength > maxWyomingData {
		return nil, engine.Faultf(wyoming, engine.Babbled, "%s with %d bytes of data and %d of payload", ev.Type, ev.DataLength, ev.PayloadLength)
	}
	if ev.DataLength > 0 {
		more := make([]byte, ev.DataLength)
		if _, err := io.ReadFull(in, more); err != nil {
			return nil, err
		}
		merged := map[string]json.RawMessage{}
		for _, part := range [][]byte{ev.Data, more} {
			if len(part) == 0 || string(part) == "null" {
				continue
			}
			if err := json.Unmarshal(part, &merged); err != nil {
				return nil, engine.Faultf(wyoming, engine.Babbled, "data of %s: %v", ev.Type, err)
			}
		}
		if ev.Data, err = json.Marshal(merged); err != nil {
			return nil, engine.Faultf(wyoming, engine.Babbled, "data of %s: %v", ev.Type, err)
		}
	}
	if _, err := io.CopyN(io.Discard, in, ev.PayloadLength); err != nil {
		return nil, err
	}
	return &ev, nil
}
