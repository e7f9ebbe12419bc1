package voiceprint

// Turn is a range of a recording in which one voice speaks. The turns of a recording
// cover it without a gap.
type Turn struct {
	From, To int   // samples
	Voice    int   // which voice of the recording, from 0
	Print    Print // of that voice in the whole recording
}

const (
	pause    = 20  // frames without speech end a piece: 200 ms
	longest  = 180 // frames: a longer piece is cut, because voices may change without a pause
	shortest = 60  // frames of speech that a piece needs to be judged by itself
)

// piece is a range of frames that is assumed to be one voice.
type piece struct {
	from, to int
	print    Print
	voice    int
}

// Turns returns the turns of a recording. There is at least one, unless the recording is empty.
func Turns(pcm []int16) []Turn {
	s := analyse(pcm)
	pieces := s.pieces()
	if len(pieces) == 0 {
		if len(pcm) == 0 {
			return nil
		}
		return []Turn{{To: len(pcm)}}
	}
	prints := gather(pieces)
	var out []Turn
	for i, p := range pieces {
		from := 0
		if i > 0 { // in the middle of the pause between them
			from = (pieces[i-1].to + p.from) / 2 * hop
			if p.voice == pieces[i-1].voice {
				continue
			}
			out[len(out)-1].To = from
		}
		out = append(out, Turn{From: from, To: len(pcm), Voice: p.voice, Print: prints[p.voice]})
	}
	return out
}

// pieces cuts at pauses and, in long speech, at weak moments.
func (s *sounds) pieces() (out []piece) {
	for i := 0; i < len(s.list); {
		if !s.list[i].speech {
			i++
			continue
		}
		from, to := i, i
		for ; i < len(s.list) && i-to <= pause; i++ {
			if s.list[i].speech {
				to = i + 1
			}
		}
		for to-from > longest {
			cut := from + longest/2
			for k := cut; k < from+longest; k++ {
				if s.list[k].level < s.list[cut].level {
					cut = k
				}
			}
			out = append(out, piece{from: from, to: cut})
			from = cut
		}
		out = append(out, piece{from: from, to: to})
		i = to
	}
	for i := range out {
		out[i].print = s.print(out[i].from, out[i].to)
	}
	return out
}

// gather decides which pieces belong to one voice, and returns the voices' prints. It joins the two
// voices most likely to be one, as long as that is likely.
func gather(pieces []piece) []Print {
	var prints []Print
	var of []int // each piece's voice; -1: too short to tell
	for _, p := range pieces {
		if p.print.Frames < shortest {
			of = append(of, -1)
			continue
		}
		of = append(of, len(prints))
		prints = append(prints, p.print)
	}
	if len(prints) == 0 { // nothing is long enough
		var all Print
		for i := range pieces {
			all.Add(&pieces[i].print)
			pieces[i].voice = 0
		}
		return []Print{all}
	}
	for len(prints) > 1 {
		best, a, b := OneVoice, -1, -1
		for i := range prints {
			for j := range i {
				if v := Compare(&prints[i], &prints[j]); v > best {
					best, a, b = v, j, i
				}
			}
		}
		if a < 0 {
			break
		}
		prints[a].Add(&prints[b])
		prints = append(prints[:b], prints[b+1:]...)
		for i, v := range of {
			switch {
			case v == b:
				of[i] = a
			case v > b:
				of[i]--
			}
		}
	}
	for i := range pieces {
		if of[i] < 0 {
			of[i] = nearest(pieces, of, i)
		}
		pieces[i].voice = of[i]
	}
	return prints
}

// nearest returns the voice of the piece that is nearest in time, among those that are long enough
// to tell.
func nearest(pieces []piece, of []int, i int) int {
	best, voice := 1<<30, 0
	for k := range pieces {
		if of[k] < 0 || pieces[k].print.Frames < shortest {
			continue
		}
		gap := max(pieces[k].from-pieces[i].to, pieces[i].from-pieces[k].to)
		if gap < best {
			best, voice = gap, of[k]
		}
	}
	return voice
}
