package keyring

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"math/big"
	"strings"
	"unicode"
)

// Language is the language of a phrase's words.
type Language string

const (
	English Language = "en"
	Chinese Language = "zh" // simplified characters, one a word
)

const (
	phraseWords = 24
	entropySize = 32 // bytes; with 8 bits of checksum 24 words of 11 bits (BIP 39)
	wordBits    = 11
)

func (l Language) words() ([]string, error) {
	switch l {
	case English, "":
		return englishWords(), nil
	case Chinese:
		return chineseWords(), nil
	}
	return nil, fmt.Errorf("%w: no word list for language %q: en and zh", ErrPhrase, string(l))
}

// newPhrase makes a phrase, and its keys.
func newPhrase(l Language) (string, *Recovery, error) {
	var entropy [entropySize]byte
	rand.Read(entropy[:])
	defer clear(entropy[:])
	phrase, err := phraseOf(entropy, l)
	if err != nil {
		return "", nil, err
	}
	return phrase, recoveryOf(entropy[:]), nil
}

// phraseOf encodes entropy as words (BIP 39). The same entropy in another language stands for the
// same keys.
func phraseOf(entropy [entropySize]byte, l Language) (string, error) {
	list, err := l.words()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(entropy[:])
	bits := new(big.Int).SetBytes(append(entropy[:], sum[0]))
	words := make([]string, phraseWords)
	mask := big.NewInt(1<<wordBits - 1)
	for i := phraseWords - 1; i >= 0; i-- {
		words[i] = list[new(big.Int).And(bits, mask).Int64()]
		bits.Rsh(bits, wordBits)
	}
	return strings.Join(words, " "), nil
}

// entropyOf decodes a phrase in either language: words in any case, separated by any white space;
// Chinese ones also without any.
func entropyOf(phrase string) (e [entropySize]byte, err error) {
	words := strings.Fields(strings.ToLower(phrase))
	l := English
	if strings.ContainsFunc(phrase, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
		l, words = Chinese, strings.Split(strings.Join(words, ""), "")
	}
	list, err := l.words()
	if err != nil {
		return e, err
	}
	if len(words) != phraseWords {
		return e, fmt.Errorf("%w: %d words, want %d", ErrPhrase, len(words), phraseWords)
	}
	index := make(map[string]int64, len(list))
	for i, w := range list {
		index[w] = int64(i)
	}
	bits := new(big.Int)
	for i, w := range words {
		n, ok := index[w]
		if !ok { // the word itself stays out of the error, and so out of logs
			return e, fmt.Errorf("%w: word %d is not in the list", ErrPhrase, i+1)
		}
		bits.Or(bits.Lsh(bits, wordBits), big.NewInt(n))
	}
	var all [entropySize + 1]byte
	bits.FillBytes(all[:])
	copy(e[:], all[:])
	if sum := sha256.Sum256(e[:]); sum[0] != all[entropySize] {
		clear(e[:])
		return e, fmt.Errorf("%w: the words don't fit together: one is wrong, or two are swapped", ErrPhrase)
	}
	return e, nil
}
