// Package work does, on a small scale, what a plugin does with text, sound and pictures. The bench
// compiles it to machine code and to WASM, from this one file.
package work

// Tokenise counts the words of a text and hashes them (FNV-1a). Words consist of ASCII letters, in
// lower case, and digits, and of all characters that are not ASCII.
func Tokenise(text string) (words int, hash uint64) {
	const offset, prime = 14695981039346656037, 1099511628211
	h, within := uint64(offset), false
	for i := range len(text) {
		c := text[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c >= 0x80 {
			if !within {
				words++
				h, within = offset, true
			}
			h = (h ^ uint64(c)) * prime
			continue
		}
		if within {
			hash ^= h
			within = false
		}
	}
	if within {
		hash ^= h
	}
	return words, hash
}

// Voice counts the frames of 20 ms, of 16 kHz PCM16, that are 6 dB over the
// quietest so far, which may rise by 2 % a frame.
func Voice(pcm []byte) (frames int) {
	const frame = 2 * 320
	floor := 0.0
	for at := 0; at+frame <= len(pcm); at += frame {
		var e float64
		for i := at; i < at+frame; i += 2 {
			v := float64(int16(uint16(pcm[i]) | uint16(pcm[i+1])<<8))
			e += v * v
		}
		switch {
		case floor == 0 || e < floor:
			floor = e
		case e > 4*floor:
			frames++
		}
		floor *= 1.02
	}
	return frames
}

// Hash returns the average hash of a grey picture: 8×8 cells, one bit each.
func Hash(gray []byte, w, h int) (hash uint64) {
	var cell [64]uint64
	all := uint64(0)
	for y := range h {
		row := gray[y*w : y*w+w]
		for x, p := range row {
			cell[y*8/h*8+x*8/w] += uint64(p)
			all += uint64(p)
		}
	}
	for i, c := range cell {
		if 64*c > all {
			hash |= 1 << i
		}
	}
	return hash
}
