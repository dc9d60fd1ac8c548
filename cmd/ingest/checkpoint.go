package main

type checkpointCommands struct{}
