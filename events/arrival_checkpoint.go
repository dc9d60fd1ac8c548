package events

import "github.com/ledgerd/ledgerd/domain"

func readCheckpoint(data []byte, read *domain.CheckpointRead) *domain.Refusal { return nil }
