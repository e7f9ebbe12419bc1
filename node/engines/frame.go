package engines

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/locket-dev/locket/internal/engine"
	"github.com/locket-dev/locket/internal/engine/result"
)

// A message between the node and an engine's process is
//
//	offset  size  what
//	0       4     length h of the header, big-endian
//	4       4     length m of the media, big-endian; 0 in answers
//	8       h     header: JSON of a job or a reply
//	8+h     m     media: a WAV file, a JPEG or a PNG
//
// A job for a series of photos has no media. Its photos follow it, one message
// each. Both ends are the same program, so the message has no version.

// job is a piece of work on one source, or on a series of photos.
type job struct {
	Spec   Spec     `json:"spec"`
	Lang   string   `json:"lang,omitempty"`   // language of the source, BCP 47
	Langs  []string `json:"langs,omitempty"`  // languages around the wearer, BCP 47
	Turn   int      `json:"turn,omitempty"`   // quarter turns that put a photo upright
	Runs   string   `json:"runs,omitempty"`   // folder for the runs of programs
	Photos int      `json:"photos,omitempty"` // how many photos follow
}

// shot is the header of a photo of a series.
type shot struct {
	At   time.Time `json:"at"`
	Turn int       `json:"turn,omitempty"`
}

// reply is the result of a job: an answer, a fault of the engine, or an error.
type reply struct {
	Answer *result.Answer `json:"answer,omitempty"`
	Fault  *engine.Fault  `json:"fault,omitempty"`
	Error  string         `json:"error,omitempty"`
}

// Limits of a message.
const (
	maxHeader = 32 << 20 // a transcript with every word's time
	maxMedia  = 128 << 20
)

var errFrame = errors.New("engine process: a message that is none")

func send(w io.Writer, header any, media []byte) error {
	b, err := json.Marshal(header)
	if err != nil {
		return err
	}
	if len(b) > maxHeader || len(media) > maxMedia {
		return fmt.Errorf("engine process: a message of %d and %d bytes is too large", len(b), len(media))
	}
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(len(b))), uint32(len(media)))
	for _, part := range [][]byte{append(head, b...), media} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

func receive(r io.Reader, header any) (media []byte, err error) {
	var head [8]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	h, m := binary.BigEndian.Uint32(head[:]), binary.BigEndian.Uint32(head[4:])
	if h > maxHeader || m > maxMedia {
		return nil, errFrame
	}
	b := make([]byte, h)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(b, header); err != nil {
		return nil, fmt.Errorf("%w: %v", errFrame, err)
	}
	media = make([]byte, m)
	_, err = io.ReadFull(r, media)
	return media, err
}

// replyOf puts an answer or an error into a reply.
func replyOf(a result.Answer, err error) reply {
	var f *engine.Fault
	switch {
	case err == nil:
		return reply{Answer: &a}
	case errors.As(err, &f):
		return reply{Fault: f}
	}
	return reply{Error: engine.Clip(err.Error())}
}

// outcome returns the answer or the error in a reply.
func (r *reply) outcome(name string) (a result.Answer, err error) {
	switch {
	case r.Answer != nil:
		return *r.Answer, nil
	case r.Fault != nil:
		return a, r.Fault
	case r.Error != "":
		return a, engine.Faultf(name, engine.Crashed, "%s", r.Error)
	}
	return a, errFrame
}

// jobTime is the maximum duration of a job. An utterance has at most 30 seconds,
// and every engine's own limits are shorter.
const jobTime = 6 * time.Minute
