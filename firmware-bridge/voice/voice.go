// Package voice speaks a text with espeak-ng, for wearables with a speaker, and encodes it as Opus
// with opusenc (Debian: espeak-ng, opus-tools). Both are programs beside the bridge: in Go without
// C there is neither a voice nor an Opus encoder.
package voice

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/locket-dev/locket/internal/media"
)

var (
	// ErrMissing: a program is not installed.
	ErrMissing = errors.New("voice: the answer can't be spoken: a program is missing")
	// ErrVoice: a program failed, or made no sound.
	ErrVoice = errors.New("voice: the answer can't be spoken")
)

// Rate is the sample rate of Speak, in samples a second.
const Rate = 22050

// Frame is the duration of an Opus packet.
const Frame = 60 * time.Millisecond

// within limits how long it takes; two minutes of speech take about a second.
const within = 20 * time.Second

// Speak returns samples of 16 bits, little-endian, one channel, at Rate. Chinese is spoken in
// Mandarin, everything else in English.
func Speak(ctx context.Context, text string) ([]byte, error) {
	wav, err := speak(ctx, text)
	if err != nil {
		return nil, err
	}
	// The header says that the length of the stream is unknown.
	if len(wav) < 44 || string(wav[:4]) != "RIFF" || string(wav[36:40]) != "data" || binary.LittleEndian.Uint32(wav[24:]) != Rate {
		return nil, fmt.Errorf("%w: espeak-ng wrote %d bytes that are not the sound that was asked for", ErrVoice, len(wav))
	}
	pcm := wav[44:]
	return pcm[:len(pcm)&^1], nil
}

func speak(ctx context.Context, text string) ([]byte, error) {
	lang := "en"
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
		lang = "cmn"
	}
	return run(ctx, []byte(text), "espeak-ng", "--stdin", "--stdout", "-v", lang)
}

// Opus returns packets of Frame each, one channel.
func Opus(ctx context.Context, text string) ([][]byte, error) {
	wav, err := speak(ctx, text)
	if err != nil {
		return nil, err
	}
	return encode(ctx, wav, Frame, "--ignorelength")
}

// Encode encodes samples of 16 bits, little-endian, one channel, into Opus packets of the given
// duration: 20, 40 or 60 ms. Packets of 20 ms are CELT of a constant size, even for silence, as
// pendants encode.
func Encode(ctx context.Context, pcm []byte, rate int, frame time.Duration) ([][]byte, error) {
	form := []string{"--raw", "--raw-bits", "16", "--raw-chan", "1", "--raw-rate", strconv.Itoa(rate)}
	if frame <= 20*time.Millisecond {
		form = append(form, "--music", "--hard-cbr")
	}
	return encode(ctx, pcm, frame, form...)
}

// encode runs opusenc on sound, whose format the last arguments describe.
func encode(ctx context.Context, sound []byte, frame time.Duration, form ...string) ([][]byte, error) {
	ogg, err := run(ctx, sound, "opusenc", append(form, "--quiet", "--framesize", strconv.FormatInt(frame.Milliseconds(), 10), "--bitrate", "24", "-", "-")...)
	if err != nil {
		return nil, err
	}
	list, _, err := media.ReadOpus(ogg)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrVoice, err)
	}
	var out [][]byte
	for _, p := range list {
		out = append(out, p.Data)
	}
	return out, nil
}

// run runs a program with in as its input, and returns its output.
func run(ctx context.Context, in []byte, program string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	c := exec.CommandContext(ctx, program, args...)
	var out, said bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(in), &out, &said
	switch err := c.Run(); {
	case errors.Is(err, exec.ErrNotFound):
		return nil, fmt.Errorf("%w: %s", ErrMissing, program)
	case err != nil:
		return nil, fmt.Errorf("%w: %s: %v: %.200q", ErrVoice, program, err, said.String())
	}
	return out.Bytes(), nil
}
