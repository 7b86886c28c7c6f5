"""Audits a checker: true sentences of a corpus are changed so that they are wrong. Does it notice?"""
