package extract

import (
	"bytes"
	"context"
	"strings"

	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
)

// stateKey names the state of one plugin for one stream of events.
type stateKey struct{ plugin, stream string }

// statePrefix begins the names of the records of states.
const statePrefix = "state of "

func (k stateKey) meta() string { return statePrefix + k.plugin + ", " + k.stream }

// soundOf names a device's stream of sound. A plugin's state for it lasts as long
// as the recording, and is not kept on disk: after a restart, the events of an
// unfinished utterance come again.
func soundOf(device string) string { return soundPrefix + device }

const soundPrefix = "sound of "

// state is what a plugin returned last, and whether that is on disk.
type state struct {
	data []byte
	kept bool
}

// states are what plugins remember from one event to the next. A state is committed
// with the event from which it follows.
type states map[stateKey]state

func (s states) get(ctx context.Context, e *engine.Engine, k stateKey) ([]byte, error) {
	if have, ok := s[k]; ok || strings.HasPrefix(k.stream, soundPrefix) {
		return have.data, nil
	}
	var data []byte
	err := e.View(ctx, func(tx *store.Tx) error {
		_, err := tx.Meta(k.meta(), &data)
		return err
	})
	if err == nil {
		s[k] = state{data, true}
	}
	return data, err
}

// set stores the state that a plugin returned. Most events leave a plugin's state
// as it was, and then it need not be written again.
func (s states) set(k stateKey, data []byte) {
	have, known := s[k]
	s[k] = state{data, known && have.kept && bytes.Equal(have.data, data)}
}

func (s states) save(tx *store.Tx) error {
	for k, v := range s {
		if v.kept || strings.HasPrefix(k.stream, soundPrefix) {
			continue
		}
		if err := tx.PutMeta(k.meta(), v.data); err != nil {
			return err
		}
	}
	return nil
}

// saved is called after what save wrote was committed.
func (s states) saved() {
	for k, v := range s {
		s[k] = state{v.data, true}
	}
}

// talk is the stream of everything that is said. A conversation may begin near one
// wearable and end near another.
const talk = "talk"
