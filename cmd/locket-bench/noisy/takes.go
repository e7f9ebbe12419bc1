package noisy

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/locket-dev/locket/node/extract/sound"
	"github.com/locket-dev/locket/wasm/plugins/speech/testdata/audio"
)

// Sources of takes.
const (
	Recorded    = "recordings" // people
	Synthesised = "espeak"
)

// Recordings are the WAV files of the speech extractor's tests.
func Recordings() ([]Take, error) {
	names, err := fs.Glob(audio.Files, "*.wav")
	if err != nil {
		return nil, err
	}
	var takes []Take
	for _, name := range names {
		b, err := audio.Files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		s, err := sound.WAV(b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		takes = append(takes, Take{name, Recorded, s})
	}
	return takes, nil
}

// spoken lists what espeak-ng says, and in which voice.
var spoken = []struct{ voice, text string }{
	{"en-us", "I left the keys on the shelf next to the door, and the blue folder is in the car."},
	{"en-gb+f3", "We are meeting Clara at half past six on Thursday. She is allergic to peanuts."},
	{"cmn", "明天下午三点在会议室开会，别忘了带上合同。"},
	{"en-gb-scotland", "Could you water the plants while I am away? The spare key is with the neighbours."},
	{"de+f2", "Der Zug nach Hamburg fährt um sieben Uhr zwölf von Gleis neun ab."},
	{"fr", "Le code de la porte a changé, il faut demander le nouveau à la gardienne."},
	{"cmn+f2", "我妈妈的生日是十月十九号，她喜欢红色的围巾。"},
	{"es+m4", "El médico dijo que tome las pastillas después de la cena, no antes."},
}

// ErrNoSynthesiser means that espeak-ng is not installed.
var ErrNoSynthesiser = fmt.Errorf("espeak-ng is not installed: %w", exec.ErrNotFound)

// Synthesise lets espeak-ng say eight sentences in eight voices. It returns ErrNoSynthesiser if
// espeak-ng is not installed.
func Synthesise(ctx context.Context) ([]Take, error) {
	program, err := exec.LookPath("espeak-ng")
	if err != nil {
		return nil, ErrNoSynthesiser
	}
	dir, err := os.MkdirTemp("", "locket-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var takes []Take
	for _, s := range spoken {
		path := filepath.Join(dir, s.voice+".wav")
		cmd := exec.CommandContext(ctx, program, "-v", s.voice, "-w", path, "--stdin")
		cmd.Stdin = strings.NewReader(s.text)
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("espeak-ng -v %s: %w: %s", s.voice, err, strings.TrimSpace(string(out)))
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		samples, err := sound.WAV(b)
		if err != nil {
			return nil, fmt.Errorf("espeak-ng -v %s: %w", s.voice, err)
		}
		takes = append(takes, Take{s.voice, Synthesised, samples})
	}
	return takes, nil
}
