package cli

// AdvisedError is an error with what a person can do about it.
type AdvisedError struct {
	Err    error
	Advice string
}

func (e AdvisedError) Error() string { return e.Err.Error() }
func (e AdvisedError) Unwrap() error { return e.Err }

// thereError is an error whose advice is for another machine.
type thereError struct {
	err    error
	advice string
}

func (e thereError) Error() string { return e.err.Error() }
func (e thereError) Unwrap() error { return e.err }
