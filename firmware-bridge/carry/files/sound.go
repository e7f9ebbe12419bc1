package files

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/mewkiz/flac"

	"github.com/locket-dev/locket/internal/engine"
	"github.com/locket-dev/locket/internal/media"
)

// maxSamples limits the samples of a FLAC, in bytes: 2.3 hours at 16 kHz, or 46 minutes at 48. A
// file of 64 MiB can claim, and hold, thousands of hours of one repeated sample.
const maxSamples = 256 << 20

// errAAC: the program that decodes M4A and MP3 is missing.
var errAAC = errors.New("M4A or MP3 not decoded: the program ffmpeg is missing; install it, and start the bridge again")

// readFLAC decodes a FLAC file (RFC 9639) to one channel of 16 bits. It fails unless the file is
// complete, by the number of samples and the checksum. most limits the samples, in bytes. Because a
// small file can hold minutes of samples, it stops with ctx.
func readFLAC(ctx context.Context, b []byte, most int) (s media.Sound, err error) {
	bad := func(format string, args ...any) (media.Sound, error) {
		return media.Sound{}, fmt.Errorf("%w: flac: %s", media.ErrFormat, fmt.Sprintf(format, args...))
	}
	left := bytes.NewReader(b)
	stream, err := flac.New(left)
	if err != nil {
		return bad("offset %d: %v", len(b)-left.Len(), err)
	}
	info := stream.Info
	channels, bits := int(info.NChannels), int(info.BitsPerSample)
	if channels < 1 || channels > 2 || bits < 8 || bits > 24 || info.SampleRate < 8000 || info.SampleRate > 48000 {
		return bad("%d bits, %d channels, %d Hz: want 8 to 24 bits, 1 or 2 channels, 8000 to 48000 Hz", bits, channels, info.SampleRate)
	}
	if info.NSamples > uint64(most/2) {
		return bad("it says %d samples, more than the %d that are taken from a file", info.NSamples, most/2)
	}
	sum := md5.New()
	for {
		if err := ctx.Err(); err != nil {
			return s, err
		}
		f, err := stream.ParseNext()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return bad("after %d samples: %v", len(s.PCM)/2, err)
		}
		if len(f.Subframes) != channels || int(f.BitsPerSample) != bits {
			return bad("after %d samples: a frame of %d bits and %d channels in a file of %d and %d", len(s.PCM)/2, f.BitsPerSample, len(f.Subframes), bits, channels)
		}
		n := len(f.Subframes[0].Samples)
		if len(f.Subframes[channels-1].Samples) != n {
			return bad("after %d samples: channels of different length", len(s.PCM)/2)
		}
		if len(s.PCM)+2*n > most {
			return bad("more than %d samples", most/2)
		}
		f.Hash(sum)
		for i, v := range f.Subframes[0].Samples {
			if channels == 2 {
				v = int32((int64(v) + int64(f.Subframes[1].Samples[i])) / 2)
			}
			s.PCM = binary.LittleEndian.AppendUint16(s.PCM, uint16(sixteen(v, bits)))
		}
	}
	n := uint64(len(s.PCM) / 2)
	switch {
	case info.NSamples != 0 && n != info.NSamples:
		return bad("%d samples of %d: its end is missing", n, info.NSamples)
	case n == 0:
		return bad("no samples")
	case info.MD5sum != [16]byte{} && [16]byte(sum.Sum(nil)) != info.MD5sum:
		return bad("its samples do not match its checksum")
	}
	s.Rate = int(info.SampleRate)
	return s, nil
}

// sixteen converts a sample to 16 bits.
func sixteen(v int32, bits int) int16 {
	if bits <= 16 {
		return int16(v << (16 - bits))
	}
	return int16(v >> (bits - 16))
}

// isMP3 reports whether b begins as MPEG audio of layer III, or as the tags before it.
func isMP3(b []byte) bool {
	return len(b) > 4 && (string(b[:3]) == "ID3" || b[0] == 0xff && b[1]&0xe6 == 0xe2)
}

// ffmpegOpus runs ffmpeg to decode M4A ("mov") or MP3 ("mp3") to one channel of Opus in Ogg, in
// which hours of speech are small. The process may read only this one file.
func ffmpegOpus(ctx context.Context, b []byte, format string) ([]byte, error) {
	c := engine.Command{Engine: "ffmpeg", Program: "ffmpeg",
		Limits: engine.Limits{Wall: 20 * time.Minute, CPU: 15 * time.Minute, Memory: 1 << 30, Output: 96 << 20}}
	if _, err := c.Find(); err != nil {
		return nil, errAAC
	}
	out, err := c.Run(ctx, engine.Input{File: b, FileName: "in"}, "-nostdin", "-v", "error", "-xerror", "-threads", "1",
		"-protocol_whitelist", "file,pipe", "-f", format, "-i", "file:in", "-map", "0:a:0", "-map_metadata", "-1",
		"-ac", "1", "-c:a", "libopus", "-b:a", "32k", "-f", "ogg", "pipe:1")
	if err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: ffmpeg found no sound in it", media.ErrFormat)
	}
	return out, nil
}
