package archive

// The default limits. CI artifacts of this kind are a few megabytes; the
// limits leave room for logs and traces beside the documents and keep a hostile
// archive from costing more than seconds.
const (
	// MaxArchiveBytes is how large the zip file may be.
	MaxArchiveBytes = 256 << 20
	// MaxEntries is how many files and directories it may have.
	MaxEntries = 20_000
	// MaxTotalBytes is how large all entries together may be, unpacked.
	MaxTotalBytes = 1 << 30
	// MaxEntryBytes is how large one entry may be, unpacked.
	MaxEntryBytes = 512 << 20
	// MaxDocumentBytes is how large one document may be: a larger one fits no
	// message.
	MaxDocumentBytes = 8 << 20
	// MaxDocumentsBytes is how large all documents together may be: they are
	// held in memory.
	MaxDocumentsBytes = 256 << 20
	// MaxExecutions is how many executions one archive may hold.
	MaxExecutions = 5_000
	// MaxRatio is how many times larger than its compressed bytes an entry may
	// become, once it is larger than RatioFreeBytes. Text packs 5 to 50 times.
	MaxRatio = 250
)

// Limits that do not change.
const (
	// RatioFreeBytes is how much an entry may hold before its ratio counts:
	// short runs of one byte pack well beyond MaxRatio and hurt nobody.
	RatioFreeBytes = 1 << 20
	// MaxNameBytes is how long an entry's name may be.
	MaxNameBytes = 1024
	// MaxDirectoryBytes is how large the list of entries may be: it is held in
	// memory.
	MaxDirectoryBytes = 32 << 20
)

// Limits bound what reading an archive may cost. A zero field is the default,
// the constant of its name.
type Limits struct {
	ArchiveBytes   int64 // MaxArchiveBytes
	Entries        int   // MaxEntries
	TotalBytes     int64 // MaxTotalBytes
	EntryBytes     int64 // MaxEntryBytes
	DocumentBytes  int64 // MaxDocumentBytes
	DocumentsBytes int64 // MaxDocumentsBytes
	Executions     int   // MaxExecutions
	Ratio          int64 // MaxRatio
}

func (l Limits) withDefaults() Limits {
	return Limits{
		ArchiveBytes:   orDefault(l.ArchiveBytes, MaxArchiveBytes),
		Entries:        orDefault(l.Entries, MaxEntries),
		TotalBytes:     orDefault(l.TotalBytes, MaxTotalBytes),
		EntryBytes:     orDefault(l.EntryBytes, MaxEntryBytes),
		DocumentBytes:  orDefault(l.DocumentBytes, MaxDocumentBytes),
		DocumentsBytes: orDefault(l.DocumentsBytes, MaxDocumentsBytes),
		Executions:     orDefault(l.Executions, MaxExecutions),
		Ratio:          orDefault(l.Ratio, MaxRatio),
	}
}

func orDefault[N int | int64](value, otherwise N) N {
	if value == 0 {
		return otherwise
	}
	return value
}
