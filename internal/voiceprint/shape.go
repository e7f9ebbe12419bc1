package voiceprint

// shape says how one value varies: see [Compare].
type shape struct {
	between float64 // variance between voices
	within  float64 // variance within a voice, however long it speaks
	chance  float64 // variance due to what is said in a second
}

// shapes were measured on six sentences each of 28 of espeak-ng's voices, every other one of those
// that sound like people, cut into pieces of 1 and 4 s. A voice of espeak-ng varies less than a
// person's, so within is at least a twentieth of between. No recordings of people were used for
// them.
var shapes = [Values]shape{
	{9.19, 0.459, 5.39},
	{3.36, 0.168, 1.24},
	{2.35, 0.118, 2.8},
	{4.14, 0.207, 1.77},
	{2.9, 0.145, 0.734},
	{1.85, 0.0923, 1.23},
	{1.84, 0.0921, 0.608},
	{0.846, 0.0423, 0.533},
	{0.705, 0.0352, 0.453},
	{0.781, 0.0391, 0.239},
	{0.376, 0.0188, 0.255},
	{0.355, 0.0177, 0.168},
	{0.369, 0.0184, 0.119},
	{0.346, 0.0173, 0.1},
	{0.181, 0.00906, 0.0731},
	{0.188, 0.0094, 0.0742},
	{0.107, 0.00535, 0.00483},
	{0.0312, 0.00156, 0.0518},
	{0.0156, 0.000779, 0.0146},
	{0.0258, 0.00129, 0.0619},
	{0.019, 0.00509, 0.0461},
	{0.0384, 0.00192, 0.0269},
	{0.0532, 0.00266, 0.0365},
	{0.0332, 0.00166, 0.0307},
	{0.0463, 0.00231, 0.0392},
	{0.0335, 0.00168, 0.0355},
	{0.0404, 0.00202, 0.0326},
	{0.055, 0.00275, 0.034},
	{0.0528, 0.00264, 0.025},
	{0.0715, 0.00358, 0.0283},
	{0.0648, 0.00324, 0.0302},
	{0.0732, 0.00366, 0.036},
	{0.0717, 0.00358, 0.0272},
	{0.189, 0.00945, 0.442},
}

const (
	// OneVoice is the score above which two parts of one recording, or of a session, count as one
	// voice. It was chosen as 5 on the same voices, and lowered to 3 after looking at mixtures of
	// real voices, so a measurement on those recordings is not independent of it.
	OneVoice = 3.0
	// most limits the effect of one value. A value far outside of the range of voices counts for
	// less than its square.
	most = 6.0
)
