package node

import (
	"context"
	"encoding/binary"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/speechtest"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/extract/sound"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/zones"
	"github.com/locket-dev/locket/wasm/plugins/speech/testdata/audio"
)

// speaker speaks to a node, a second at a time, as a pendant would.
type speaker struct {
	n     *Node
	boot  uint64
	began time.Time
	pcm   []int16
	at    int
}

func newSpeaker(t *testing.T, n *Node, boot uint64) *speaker {
	t.Helper()
	pcm, err := sound.WAV(audio.Speech())
	if err != nil {
		t.Fatal(err)
	}
	return &speaker{n: n, boot: boot, began: time.Now(), pcm: pcm}
}

// slack is how much later the sound arrives, going by its timestamps, than it really does. Sound
// that is 5 s old is not transcribed live, and a busy machine may take that long for one second of
// it.
const slack = 30 * time.Second

// says sends that many seconds of sound, or all that is left.
func (s *speaker) says(t *testing.T, seconds int) {
	t.Helper()
	defer s.speaksOn(t)()
	for range seconds {
		part := s.pcm[s.at:min(s.at+sound.Rate, len(s.pcm))]
		if len(part) == 0 {
			return
		}
		data := make([]byte, 0, 2*len(part))
		for _, v := range part {
			data = binary.LittleEndian.AppendUint16(data, uint16(v))
		}
		at := s.began.Add(time.Duration(s.at) * time.Second / sound.Rate)
		s.at += len(part)
		comesEvent(t, s.n, memory.Event{ID: memory.EventID{Device: "pin", Boot: s.boot, Seq: uint64(s.at)}, Kind: memory.KindAudio, At: at, Received: time.Now().Add(slack), Clock: memory.ClockWall,
			Codec: "pcm16", Data: data, Last: s.at == len(s.pcm)})
	}
}

// meanwhile waits as eventually does, while the speaker goes on speaking.
func (s *speaker) meanwhile(t *testing.T, what string, ok func() bool) {
	t.Helper()
	defer s.speaksOn(t)()
	eventually(t, what, ok)
}

// speaksOn sends the engine a little sound now and then, until done is called. The engine stops
// listening after some seconds without any, and on a busy machine that much time can pass even
// between two seconds of speech.
func (s *speaker) speaksOn(t *testing.T) (done func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		for wait.For(ctx, time.Second/2) {
			o, release, err := s.n.use()
			if err != nil {
				t.Error(err)
				return
			}
			o.engines.Hear("pin", false, make([]int16, sound.Rate/100))
			release()
		}
	})
	return func() {
		cancel()
		all.Wait()
	}
}

// Words appear while somebody is still speaking: the engine already has the sound, its words are
// shown unless they contain a secret, and the recording is not sent again. If the stream breaks
// off, the whole recording is transcribed afterwards. Each utterance gets its words once.
func TestLiveTranscription(t *testing.T) {
	t.Parallel()
	s := speechtest.Wyoming(t)
	n := running(t, nil)
	if e := addEngine(t, n, "ears", s.Address); e.Engine != "wyoming" || !e.Local {
		t.Fatalf("%+v", e)
	}
	tried := len(s.Calls()) // the sample
	ctx, stop := context.WithCancel(t.Context())
	var watch sync.WaitGroup
	defer watch.Wait()
	defer stop()
	var mu sync.Mutex
	var shown []serve.Hearing
	var all strings.Builder
	watch.Go(func() {
		for list, err := range n.Hearing(ctx) {
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			shown = list
			for _, h := range list {
				all.WriteString(h.Device + ": " + h.Text + "\n")
			}
			mu.Unlock()
		}
	})
	showing := func() []serve.Hearing {
		mu.Lock()
		defer mu.Unlock()
		return shown
	}
	call := func(i int) speechtest.WyomingCall {
		if calls := s.Calls(); len(calls) > tried+i {
			return calls[tried+i]
		}
		return speechtest.WyomingCall{}
	}
	words := "Lena is allergic to peanuts and to shellfish, the doctor says."
	soFar := func(text string) func([]byte) string {
		return func(sound []byte) string {
			all := strings.Fields(text)
			return strings.Join(all[:min(len(all), len(sound)/32000)], " ")
		}
	}
	s.Says(says(words), soFar(words))
	one := newSpeaker(t, n, 0)
	one.says(t, 6)
	one.meanwhile(t, "words so far", func() bool {
		l := showing()
		return len(l) == 1 && strings.HasPrefix(l[0].Text, "Lena is allergic to peanuts")
	})
	if c := call(0); c.Stopped || len(c.Sound) < 4*32000 || len(heardBy(t, n)) != 0 {
		t.Errorf("%d bytes were sent, all of them: %v", len(c.Sound), c.Stopped)
	}
	one.says(t, 10)
	eventually(t, "words", func() bool { return len(heardBy(t, n)) == 1 })
	eventually(t, "nothing is said", func() bool { return len(showing()) == 0 })
	if c := call(0); !c.Stopped || c.Wrong != "" || len(c.Sound) < 10*32000 || heardBy(t, n)[0].Text != words || heardBy(t, n)[0].Source.Model != "wyoming" {
		t.Errorf("%d bytes, %v, %q, %+v", len(c.Sound), c.Stopped, c.Wrong, heardBy(t, n))
	}
	eventually(t, "the end of waiting", func() bool { return engineOfKind(t, n, "ears").Done == 1 })
	if got := len(s.Calls()); got != tried+1 {
		t.Errorf("it was sent %d times", got-tried)
	}

	// The engine dies in the middle: the whole recording gets its words, once. A secret is never
	// shown.
	s.Says(says("The wifi password is tulip-42-harbor."), soFar("The wifi password is tulip-42-harbor and so on and on"))
	two := newSpeaker(t, n, 1)
	two.says(t, 6)
	two.meanwhile(t, "sound", func() bool { return len(call(1).Sound) > 5*32000 })
	s.HangUp()
	eventually(t, "the end of the call", func() bool { return call(1).Over })
	two.says(t, 10)
	eventually(t, "words", func() bool { return len(heardBy(t, n)) == 2 })
	if c := call(1); c.Stopped || !call(2).Stopped || len(s.Calls()) != tried+3 || heardBy(t, n)[1].Redacted == 0 {
		t.Errorf("%v, %d calls, %+v", c.Stopped, len(s.Calls())-tried, heardBy(t, n))
	}
	mu.Lock()
	if strings.Contains(all.String(), "tulip") || !strings.Contains(all.String(), "pin: Lena is allergic") {
		t.Errorf("shown: %s", all.String())
	}
	mu.Unlock()

	// A pause cuts the stream off, and what was heard of it is discarded.
	s.Says(says(words), soFar(words))
	three := newSpeaker(t, n, 2)
	three.says(t, 5)
	three.meanwhile(t, "words so far", func() bool { return len(showing()) == 1 })
	if _, err := n.Pause(t.Context(), time.Time{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the end of the stream", func() bool { return call(3).Over && len(showing()) == 0 })
	if call(3).Stopped {
		t.Error("the engine was told that the utterance is over")
	}

	// So does a private zone that begins.
	if _, err := n.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	four := newSpeaker(t, n, 3)
	four.says(t, 5)
	four.meanwhile(t, "words so far", func() bool { return len(showing()) == 1 })
	if _, err := n.AddZone(t.Context(), zones.Zone{Name: "night and day", Window: "00:00-24:00"}); err != nil {
		t.Fatal(err)
	}
	// What was said before the pause may have become a recording by the time the next sound
	// arrived. Then the whole recording is transcribed in a call of its own, and has its words.
	eventually(t, "the end of the stream", func() bool {
		cut := func(c speechtest.WyomingCall) bool { return c.Over && !c.Stopped }
		return slices.ContainsFunc(s.Calls()[tried+4:], cut) && len(showing()) == 0
	})
	if lines := heardBy(t, n); slices.ContainsFunc(lines, func(u memory.Utterance) bool { return u.Event.Boot == four.boot }) {
		t.Errorf("%+v", lines)
	}
}
