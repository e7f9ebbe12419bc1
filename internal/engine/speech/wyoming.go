package speech

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"time"

	"github.com/locket-dev/locket/internal/engine"
)

// Wyoming asks a server that speaks the Wyoming protocol (OHF-Voice/wyoming),
// as Home Assistant's speech servers do: faster-whisper, and others.
type Wyoming struct {
	Address string        // host:port, or a path for a Unix socket
	Model   string        // empty: the server's
	Timeout time.Duration // for the whole exchange; 0: 5 min
}

const wyoming = "wyoming"

// Name is "wyoming" and the model, where one is set.
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

// chunk is how much sound is sent at a time, as wyoming's own client does: 1,024 samples.
const chunk = 2048

// wyomingEvent is one event of the protocol, without its payload.
type wyomingEvent struct {
	Type          string          `json:"type"`
	Version       string          `json:"version,omitempty"`
	Data          json.RawMessage `json:"data,omitempty"`
	DataLength    int64           `json:"data_length,omitempty"`
	PayloadLength int64           `json:"payload_length,omitempty"`
}

// Transcribe sends the recording on a connection of its own.
func (w *Wyoming) Transcribe(ctx context.Context, wav []byte, hint Hints) (Transcript, error) {
	sound, err := pcm(wyoming, wav)
	if err != nil {
		return Transcript{}, err
	}
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
	conn, err := (&net.Dialer{}).DialContext(run, network, w.Address)
	if err != nil {
		return Transcript{}, broke(ctx, run, limit, err)
	}
	defer conn.Close()
	stop := context.AfterFunc(run, func() { conn.Close() })
	defer stop()

	// A server that refuses stops reading and says why: hear it out, whatever
	// becomes of the sending.
	sent := make(chan error, 1)
	go func() { sent <- w.send(conn, sound, hint) }()
	t, err := hear(bufio.NewReaderSize(conn, maxWyomingLine))
	conn.Close()
	if sendErr := <-sent; err != nil && sendErr != nil && !errors.As(err, new(*engine.Fault)) {
		err = sendErr
	}
	if err != nil {
		return Transcript{}, broke(ctx, run, limit, err)
	}
	return checked(wyoming, t)
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
	return engine.Faultf(wyoming, engine.Gone, "%v", err)
}

// send writes the events of one recording. Data is put into the line, which
// servers of every version read.
func (w *Wyoming) send(conn net.Conn, sound []byte, hint Hints) error {
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
	for i := 0; i < len(sound); i += chunk {
		if err := write("audio-chunk", audio{Rate, 2, 1, at(i)}, sound[i:min(i+chunk, len(sound))]); err != nil {
			return err
		}
	}
	if err := write("audio-stop", map[string]int64{"timestamp": at(len(sound))}, nil); err != nil {
		return err
	}
	return out.Flush()
}

// hear reads events until the transcript. One that streams sends it in pieces,
// and then whole.
func hear(in *bufio.Reader) (Transcript, error) {
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
		if ev.Type != "transcript" && ev.Type != "error" {
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
			return Transcript{}, engine.Faultf(wyoming, engine.Babbled, "a transcript without text")
		}
		return Transcript{Text: *data.Text, Lang: data.Language}, nil
	}
}

// readWyoming reads one event: a JSON line, then data_length bytes of JSON that
// are laid over the line's data, then a payload, which is passed over.
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
